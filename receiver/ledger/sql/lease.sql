-- By state, never by a high-water mark: what commits late is found too. statement_timestamp() lets the index be used. To a
-- destination that keeps the order ($6) a delivery's turn comes when nothing unfinished of its resource is before it, and, where
-- failed ones block ($7), nothing failed either.
WITH due AS (
  SELECT d.id FROM hookonce.delivery d
  WHERE d.scope = $1 AND d.next_attempt_at <= statement_timestamp()
    AND (d.leased_until IS NULL OR d.leased_until <= statement_timestamp()) AND d.destination = ANY ($5::text[])
    AND (d.resource IS NULL OR d.destination <> ALL ($6::text[]) OR NOT EXISTS (
      SELECT FROM hookonce.delivery b
      WHERE b.scope = $1 AND b.destination = d.destination AND b.resource = d.resource
        AND (b.event_received_at, b.id) < (d.event_received_at, d.id)))
    AND (d.resource IS NULL OR d.destination <> ALL ($7::text[]) OR NOT EXISTS (
      SELECT FROM hookonce.failed_delivery f
      WHERE f.scope = $1 AND f.destination = d.destination AND f.resource = d.resource
        AND (f.event_received_at, f.id) < (d.event_received_at, d.id)))
  ORDER BY d.next_attempt_at
  LIMIT $2
  FOR UPDATE OF d SKIP LOCKED
), leased AS (
  UPDATE hookonce.delivery d SET lease_token = $3, leased_until = clock_timestamp() + $4::interval
  FROM due WHERE d.id = due.id
  RETURNING d.*
)
SELECT l.id, l.destination, coalesce(l.idempotency_key, l.id::text), coalesce(e.event_id, ''),
       coalesce(e.event_type, ''), coalesce(l.content_type, e.content_type, ''), coalesce(l.body, e.body),
       l.attempts + 1, l.resource IS NOT NULL AND l.destination = ANY ($6)
FROM leased l
LEFT JOIN hookonce.event e ON e.id = l.event AND e.received_at = l.event_received_at
ORDER BY l.next_attempt_at
