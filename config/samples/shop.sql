-- The shop's side of config/samples: a table of orders and the effect that books a paid invoice.
--
-- hookonce.event and hookonce.payload belong to the ledger, which each receiver pod creates before it starts: apply an
-- endpoint first, then this. Until the function exists, deliveries are answered with 503 and the provider retries.

CREATE SCHEMA IF NOT EXISTS shop;

-- Nothing in this table keeps an invoice from being booked twice. That is the ledger's work.
CREATE TABLE IF NOT EXISTS shop.orders (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    invoice_id text NOT NULL,
    amount     numeric,
    currency   text,
    booked_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS orders_invoice_id ON shop.orders (invoice_id);

-- It runs in the claim's transaction: the order and the claim are committed together or not at all. What it returns is
-- stored, and given again to every duplicate. SQLSTATE HK001 refuses the event for good instead of asking for a retry.
-- It runs as its owner: the role of receivers needs USAGE on this schema and no rights on the table.
CREATE OR REPLACE FUNCTION shop.on_invoice_paid(e hookonce.event) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    invoice jsonb := hookonce.payload(e) -> 'data';
    booked  bigint;
BEGIN
    IF invoice ->> 'invoice_id' IS NULL THEN
        RAISE EXCEPTION 'the event names no invoice' USING ERRCODE = 'HK001';
    END IF;
    INSERT INTO shop.orders (invoice_id, amount, currency)
    VALUES (invoice ->> 'invoice_id', (invoice ->> 'amount')::numeric, invoice ->> 'currency')
    RETURNING id INTO booked;
    RETURN jsonb_build_object('order', booked, 'invoice', invoice ->> 'invoice_id');
END
$$;
