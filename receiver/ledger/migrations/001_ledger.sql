-- A scope is a space of keys: endpoint:<namespace>/<name> for event ids, effect:<function> for effects that are booked
-- once per resource. It outlives the endpoint, so that one that is deleted and made again still knows its events.
CREATE TABLE hookonce.scope (
  id            int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name          text COLLATE "C" NOT NULL UNIQUE,
  created_at    timestamptz NOT NULL DEFAULT now(),
  -- How long this endpoint keeps its rows. Nothing that endpoints share is removed before all of them allow it.
  claims_kept   interval,
  payloads_kept interval
);

-- One row per event id, and one per body where the id is not signed. Not partitioned: a unique key of a partitioned
-- table is unique only within a partition. Fixed-width columns come first: no padding between them.
CREATE TABLE hookonce.claim (
  received_at timestamptz NOT NULL DEFAULT now(),
  event       uuid NOT NULL,
  scope       int NOT NULL,
  state       smallint NOT NULL,
  status      smallint NOT NULL,
  key         bytea NOT NULL,
  body_digest bytea NOT NULL,
  -- NULL is the answer of an event without effects, which follows from its id.
  result      bytea,
  PRIMARY KEY (scope, key)
) WITH (fillfactor = 90);

-- What was received. Partitioned by day (UTC), so that what is past its age can be dropped whole.
CREATE TABLE hookonce.event (
  id           uuid NOT NULL,
  received_at  timestamptz NOT NULL DEFAULT now(),
  scope        int NOT NULL,
  endpoint     text COLLATE "C" NOT NULL,
  event_id     text COLLATE "C" NOT NULL,
  event_type   text COLLATE "C",
  resource_id  text COLLATE "C",
  content_type text COLLATE "C",
  headers      bytea NOT NULL,
  body         bytea NOT NULL,
  -- The event's JSON where the body carries it in a form. NULL: the body itself is the payload.
  payload      bytea,
  PRIMARY KEY (id, received_at)
) PARTITION BY RANGE (received_at);
-- Bodies are compressed badly or not at all, and are read whole.
ALTER TABLE hookonce.event ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE hookonce.event ALTER COLUMN payload SET STORAGE EXTERNAL;

-- Effects that are booked once per (resource, event type), whichever event or endpoint brought them.
CREATE TABLE hookonce.effect (
  received_at timestamptz NOT NULL DEFAULT now(),
  event       uuid NOT NULL,
  scope       int NOT NULL,
  key         bytea NOT NULL,
  result      jsonb,
  PRIMARY KEY (scope, key)
) WITH (fillfactor = 90);

-- The outbox: unfinished deliveries only. The lease is in columns that no index has, so that taking it is a heap-only
-- update; half of each page is left free for that.
CREATE TABLE hookonce.delivery (
  id                uuid PRIMARY KEY,
  event             uuid NOT NULL,
  event_received_at timestamptz NOT NULL,
  next_attempt_at   timestamptz NOT NULL,
  leased_until      timestamptz,
  lease_token       uuid,
  scope             int NOT NULL,
  -- Attempts that were made and recorded.
  attempts          int NOT NULL DEFAULT 0,
  destination       text COLLATE "C" NOT NULL,
  -- NULL is the delivery's own id.
  idempotency_key   text COLLATE "C" CHECK (idempotency_key ~ '^[!-~]{1,255}$'),
  -- NULL is what the event has.
  content_type      text COLLATE "C",
  body              bytea
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE hookonce.delivery ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX delivery_due ON hookonce.delivery (scope, next_attempt_at);

-- Deliveries that ran out of attempts, until they are replayed.
CREATE TABLE hookonce.failed_delivery (
  id                uuid PRIMARY KEY,
  event             uuid NOT NULL,
  event_received_at timestamptz NOT NULL,
  failed_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  scope             int NOT NULL,
  attempts          int NOT NULL,
  status_code       int NOT NULL,
  destination       text COLLATE "C" NOT NULL,
  event_id          text COLLATE "C" NOT NULL,
  reason            text NOT NULL,
  idempotency_key   text COLLATE "C",
  content_type      text COLLATE "C",
  body              bytea
);
CREATE INDEX failed_delivery_latest ON hookonce.failed_delivery (scope, failed_at);
CREATE INDEX failed_delivery_event ON hookonce.failed_delivery (event);

-- The history of attempts, by day (UTC).
CREATE TABLE hookonce.attempt (
  settled_at  timestamptz NOT NULL DEFAULT now(),
  started_at  timestamptz NOT NULL,
  delivery    uuid NOT NULL,
  event       uuid NOT NULL,
  scope       int NOT NULL,
  number      int NOT NULL,
  duration_ms int NOT NULL,
  status_code int NOT NULL,
  -- 1 delivered, 2 to be retried, 3 exhausted.
  outcome     smallint NOT NULL,
  destination text COLLATE "C" NOT NULL,
  reason      text
) PARTITION BY RANGE (settled_at);

-- Counts per minute; the row at -infinity holds the sum of the minutes that are no longer kept.
CREATE TABLE hookonce.counter (
  scope  int NOT NULL,
  minute timestamptz NOT NULL,
  name   text COLLATE "C" NOT NULL,
  cause  text COLLATE "C" NOT NULL,
  n      bigint NOT NULL,
  PRIMARY KEY (scope, minute, name, cause)
) WITH (fillfactor = 70);

-- ensure_partitions makes the days from today to so many ahead, where they are missing. Today lasts a minute longer here,
-- for transactions that began before midnight. A table is made first and attached then: that lets inserts go on, which
-- making it in place would not. It runs as the owner of the tables, which receivers and prunes need not be.
CREATE FUNCTION hookonce.ensure_partitions(ahead int) RETURNS int LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  today date := ((clock_timestamp() - interval '1 minute') AT TIME ZONE 'UTC')::date;
  parent text;
  child text;
  made int := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('hookonce.partitions', 0));
  FOREACH parent IN ARRAY ARRAY['event', 'attempt'] LOOP
    FOR day IN 0 .. least(ahead, 100) LOOP
      child := parent || '_' || to_char(today + day, 'YYYYMMDD');
      CONTINUE WHEN to_regclass('hookonce.' || child) IS NOT NULL;
      EXECUTE format('CREATE TABLE hookonce.%I (LIKE hookonce.%I INCLUDING ALL)', child, parent);
      EXECUTE format('ALTER TABLE hookonce.%I ATTACH PARTITION hookonce.%I FOR VALUES FROM (%L) TO (%L)', parent, child,
        (today + day)::timestamp AT TIME ZONE 'UTC', (today + day + 1)::timestamp AT TIME ZONE 'UTC');
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END
$$;
REVOKE EXECUTE ON FUNCTION hookonce.ensure_partitions(int) FROM PUBLIC;

-- drop_day drops the partition of a day in which everything is past the age of the endpoint it belongs to, and to which
-- nothing unfinished or failed refers, and says whether it did. Rows of an endpoint whose age is not known keep it. It
-- runs as the owner of the tables, and so judges for itself.
CREATE FUNCTION hookonce.drop_day(name text) RETURNS boolean LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  begins timestamptz;
  ends timestamptz;
  needed boolean;
BEGIN
  IF name !~ '^(event|attempt)_[0-9]{8}$' THEN
    RAISE EXCEPTION '% is not the name of a day''s partition', name USING ERRCODE = 'invalid_parameter_value';
  END IF;
  begins := to_date(right(name, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC';
  ends := begins + interval '24 hours';
  EXECUTE format($q$
    SELECT EXISTS (SELECT FROM hookonce.%1$I) AND EXISTS (
        SELECT FROM hookonce.scope s
        WHERE starts_with(s.name, 'endpoint:')
          AND (s.payloads_kept > clock_timestamp() - $2
            OR s.payloads_kept IS NULL AND EXISTS (SELECT FROM hookonce.%1$I e WHERE e.scope = s.id)))
      OR EXISTS (SELECT FROM hookonce.delivery WHERE event_received_at >= $1 AND event_received_at < $2)
      OR EXISTS (SELECT FROM hookonce.failed_delivery WHERE event_received_at >= $1 AND event_received_at < $2)
  $q$, name) INTO needed USING begins, ends;
  IF NOT needed THEN
    EXECUTE format('DROP TABLE hookonce.%I', name);
  END IF;
  RETURN NOT needed;
END
$$;
REVOKE EXECUTE ON FUNCTION hookonce.drop_day(text) FROM PUBLIC;

-- For the functions that users write.

-- payload is the event's payload, which is its body unless that is a form, as jsonb. One that jsonb cannot hold never can
-- be: the event is refused, unless the caller catches that. Not parallel: catching an error takes a subtransaction.
CREATE FUNCTION hookonce.payload(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN convert_from(coalesce(e.payload, e.body), 'UTF8')::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RAISE EXCEPTION 'the body cannot be held as jsonb' USING ERRCODE = 'HK001';
END
$$;

-- headers are the event's stored headers: an object of arrays.
CREATE FUNCTION hookonce.headers(e hookonce.event) RETURNS jsonb LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT convert_from(e.headers, 'UTF8')::jsonb $$;

-- enqueue_bytes puts a message of the caller's own into the outbox, in the caller's transaction, with the caller's own
-- idempotency key: 1 to 255 visible ASCII characters.
CREATE FUNCTION hookonce.enqueue_bytes(e hookonce.event, destination text, key text, body bytea, content_type text)
  RETURNS uuid LANGUAGE sql VOLATILE AS $$
  INSERT INTO hookonce.delivery
    (id, scope, event, event_received_at, destination, next_attempt_at, idempotency_key, content_type, body)
  VALUES (gen_random_uuid(), e.scope, e.id, e.received_at, destination, now(), key, content_type, body)
  RETURNING id
$$;

-- enqueue does that with a body of JSON.
CREATE FUNCTION hookonce.enqueue(e hookonce.event, destination text, key text, body jsonb) RETURNS uuid
  LANGUAGE sql VOLATILE AS $$
  SELECT hookonce.enqueue_bytes(e, destination, key, convert_to(body::text, 'UTF8'), 'application/json')
$$;
