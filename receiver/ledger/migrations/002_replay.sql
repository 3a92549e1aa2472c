-- One row for each replay: who wanted it and why, what was chosen, and how far it is. It is the audit as well.
CREATE TABLE hookonce.replay (
  id           uuid PRIMARY KEY,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When the last delivery was put back into the outbox, or no more of them are to be.
  sent_at      timestamptz,
  scope        int NOT NULL,
  -- Deliveries that were chosen; of them, put back into the outbox, and left out because they were there already or are gone.
  matched      bigint NOT NULL,
  sent         bigint NOT NULL DEFAULT 0,
  skipped      bigint NOT NULL DEFAULT 0,
  -- Of those sent: delivered, out of attempts, and failed at their first attempt.
  succeeded    bigint NOT NULL DEFAULT 0,
  failed       bigint NOT NULL DEFAULT 0,
  failing      bigint NOT NULL DEFAULT 0,
  -- It ended before everything was sent.
  stopped      boolean NOT NULL DEFAULT false,
  name         text NOT NULL,
  requested_by text NOT NULL,
  reason       text NOT NULL,
  selector     jsonb NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX replay_latest ON hookonce.replay (scope, created_at);

-- The deliveries that a replay has chosen and not sent yet, in the order in which they are sent.
CREATE TABLE hookonce.replay_item (
  replay            uuid NOT NULL,
  n                 bigint NOT NULL,
  delivery          uuid NOT NULL,
  event             uuid NOT NULL,
  event_received_at timestamptz NOT NULL,
  destination       text COLLATE "C" NOT NULL,
  -- NULL: it is a failed one, and moves. Else it was delivered, and is made again under this key.
  delivered_key     text COLLATE "C",
  PRIMARY KEY (replay, n)
);

-- The replay that a delivery was put into the outbox by.
ALTER TABLE hookonce.delivery ADD COLUMN replay uuid;

-- What it takes to make a delivery again that was delivered: the key where it is not the delivery's id, and that the body
-- was the event's. A body of the delivery's own is gone with it; NULL is that, or not known.
ALTER TABLE hookonce.attempt ADD COLUMN replay uuid, ADD COLUMN idempotency_key text COLLATE "C", ADD COLUMN event_body boolean;
