-- Puts the next $3 deliveries of replay $1 back into the outbox of scope $2: failed ones as they were, with the same id, the
-- same key and a fresh ladder; delivered ones as new rows under the same key, unless one with it is on its way.
WITH next AS (
  SELECT i.n FROM hookonce.replay_item i JOIN hookonce.replay r ON r.id = i.replay
  WHERE i.replay = $1 AND r.scope = $2 AND r.sent_at IS NULL
  ORDER BY i.n LIMIT $3 FOR UPDATE
), taken AS (
  DELETE FROM hookonce.replay_item i USING next WHERE i.replay = $1 AND i.n = next.n RETURNING i.*
), failed AS (
  DELETE FROM hookonce.failed_delivery f USING taken t
  WHERE t.delivered_key IS NULL AND f.id = t.delivery AND f.scope = $2
  RETURNING f.*
), again AS (
  INSERT INTO hookonce.delivery
    (id, event, event_received_at, next_attempt_at, scope, destination, idempotency_key, content_type, body, replay, resource)
  SELECT id, event, event_received_at, now(), scope, destination, idempotency_key, content_type, body, $1, resource FROM failed
  UNION ALL
  SELECT gen_random_uuid(), t.event, t.event_received_at, now(), $2, t.destination, t.delivered_key, NULL, NULL, $1, NULL
  FROM taken t
  WHERE t.delivered_key IS NOT NULL
    AND EXISTS (SELECT FROM hookonce.event e WHERE e.id = t.event AND e.received_at = t.event_received_at)
    AND NOT EXISTS (SELECT FROM hookonce.delivery d WHERE d.scope = $2 AND d.event = t.event
      AND d.destination = t.destination AND coalesce(d.idempotency_key, d.id::text) = t.delivered_key)
  RETURNING id
)
UPDATE hookonce.replay
SET sent = sent + (SELECT count(*) FROM again),
    skipped = skipped + (SELECT count(*) FROM taken) - (SELECT count(*) FROM again)
WHERE id = $1 AND scope = $2
