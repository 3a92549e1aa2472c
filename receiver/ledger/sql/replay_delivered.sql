-- Chooses deliveries that were delivered, each once, whose body is the event's. Parameters as in replay_failed.sql; there is
-- no reason to choose by. The attempts are read by the day: a delivery is settled after its event was received.
WITH delivered AS (
  SELECT DISTINCT ON (a.event, a.destination, coalesce(a.idempotency_key, a.delivery::text))
    a.delivery, a.event, a.destination, coalesce(a.idempotency_key, a.delivery::text) AS key
  FROM hookonce.attempt a
  WHERE a.scope = $6 AND a.outcome = 1 AND a.event_body AND ($7::text = '' OR a.destination = $7)
    AND ($10::timestamptz IS NULL OR a.settled_at >= $10)
), chosen AS (
  SELECT d.delivery, d.event, e.received_at, d.destination, d.key, row_number() OVER (ORDER BY e.received_at, d.delivery) AS n
  FROM delivered d JOIN hookonce.event e ON e.id = d.event
  WHERE (cardinality($8::text[]) = 0 OR e.event_id = ANY ($8))
    AND (cardinality($9::text[]) = 0 OR coalesce(e.event_type, '') LIKE ANY ($9))
    AND ($10::timestamptz IS NULL OR e.received_at >= $10) AND ($11::timestamptz IS NULL OR e.received_at < $11)
    AND $12::text = ''
), items AS (
  INSERT INTO hookonce.replay_item (replay, n, delivery, event, event_received_at, destination, delivered_key)
  SELECT $1, n, delivery, event, received_at, destination, key FROM chosen
  RETURNING n
)
INSERT INTO hookonce.replay (id, scope, name, requested_by, reason, selector, matched)
SELECT $1, $6, $2, $3, $4, $5, count(*) FROM items
