-- By state, never by a high-water mark: what commits late is found too. statement_timestamp() lets the index be used.
WITH due AS (
  SELECT id FROM hookonce.delivery
  WHERE scope = $1 AND next_attempt_at <= statement_timestamp()
    AND (leased_until IS NULL OR leased_until <= statement_timestamp()) AND destination = ANY ($5::text[])
  ORDER BY next_attempt_at
  LIMIT $2
  FOR UPDATE SKIP LOCKED
), leased AS (
  UPDATE hookonce.delivery d SET lease_token = $3, leased_until = clock_timestamp() + $4::interval
  FROM due WHERE d.id = due.id
  RETURNING d.*
)
SELECT l.id, l.destination, coalesce(l.idempotency_key, l.id::text), coalesce(e.event_id, ''),
       coalesce(e.event_type, ''), coalesce(l.content_type, e.content_type, ''), coalesce(l.body, e.body),
       l.attempts + 1
FROM leased l
LEFT JOIN hookonce.event e ON e.id = l.event AND e.received_at = l.event_received_at
ORDER BY l.next_attempt_at
