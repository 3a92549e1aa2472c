-- Failed deliveries go back to the outbox as they were: the same id, the same key, a fresh ladder. Only those that had
-- failed when the replay began, so that one that fails again at once is not taken twice.
WITH chosen AS (
  SELECT id FROM hookonce.failed_delivery
  WHERE scope = $1 AND failed_at <= $2 AND ($3::text = '' OR destination = $3) AND ($4::text = '' OR event_id = $4)
  ORDER BY failed_at
  LIMIT $5
  FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM hookonce.failed_delivery f USING chosen WHERE f.id = chosen.id RETURNING f.*
)
INSERT INTO hookonce.delivery
  (id, event, event_received_at, next_attempt_at, scope, destination, idempotency_key, content_type, body)
SELECT id, event, event_received_at, now(), scope, destination, idempotency_key, content_type, body FROM taken
