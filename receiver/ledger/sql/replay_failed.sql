-- Chooses failed deliveries. $1 replay, $2 name, $3 who, $4 why, $5 selector, $6 scope; of the selector: $7 destination,
-- $8 event ids, $9 patterns of event types, $10 and $11 when the event was received, $12 a part of the reason; an empty or
-- absent one means any.
WITH chosen AS (
  SELECT f.id, f.event, f.event_received_at, f.destination, row_number() OVER (ORDER BY f.failed_at, f.id) AS n
  FROM hookonce.failed_delivery f
  LEFT JOIN hookonce.event e ON e.id = f.event AND e.received_at = f.event_received_at
  WHERE f.scope = $6 AND ($7::text = '' OR f.destination = $7)
    AND (cardinality($8::text[]) = 0 OR f.event_id = ANY ($8))
    AND (cardinality($9::text[]) = 0 OR coalesce(e.event_type, '') LIKE ANY ($9))
    AND ($10::timestamptz IS NULL OR f.event_received_at >= $10) AND ($11::timestamptz IS NULL OR f.event_received_at < $11)
    AND ($12::text = '' OR strpos(f.reason, $12) > 0)
), items AS (
  INSERT INTO hookonce.replay_item (replay, n, delivery, event, event_received_at, destination)
  SELECT $1, n, id, event, event_received_at, destination FROM chosen
  RETURNING n
)
INSERT INTO hookonce.replay (id, scope, name, requested_by, reason, selector, matched)
SELECT $1, $6, $2, $3, $4, $5, count(*) FROM items
