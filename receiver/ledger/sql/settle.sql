-- Every change asks for the token of the lease under which the attempt was made: a late writer changes nothing, and its
-- attempt is not in the history. One batch may hold a late attempt and the current one of the same delivery, so what was
-- changed is known by n, the attempt's place in the batch, and never by the delivery's id.
WITH s AS (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::bigint[], $5::int[], $6::timestamptz[], $7::int[],
    $8::int[], $9::text[])
    WITH ORDINALITY AS s (id, token, outcome, delay_us, number, started_at, duration_ms, status_code, reason, n)
), delivered AS (
  DELETE FROM hookonce.delivery d USING s
  WHERE s.outcome = 1 AND d.id = s.id AND d.lease_token = s.token
  RETURNING s.n, d.event, d.scope, d.destination, d.replay, d.idempotency_key, d.body IS NULL AS event_body
), retried AS (
  UPDATE hookonce.delivery d
  SET next_attempt_at = clock_timestamp() + s.delay_us * interval '1 microsecond', attempts = d.attempts + 1,
      lease_token = NULL, leased_until = NULL
  FROM s WHERE s.outcome = 2 AND d.id = s.id AND d.lease_token = s.token
  RETURNING s.n, d.event, d.scope, d.destination, d.replay, d.idempotency_key, d.body IS NULL AS event_body
), exhausted AS (
  DELETE FROM hookonce.delivery d USING s
  WHERE s.outcome = 3 AND d.id = s.id AND d.lease_token = s.token
  RETURNING s.n, d.*
), failed AS (
  INSERT INTO hookonce.failed_delivery (id, event, event_received_at, scope, attempts, status_code, destination, event_id,
    reason, idempotency_key, content_type, body, resource)
  SELECT x.id, x.event, x.event_received_at, x.scope, x.attempts + 1, s.status_code, x.destination,
         coalesce(e.event_id, ''), s.reason, x.idempotency_key, x.content_type, x.body, x.resource
  FROM exhausted x JOIN s ON s.n = x.n
  LEFT JOIN hookonce.event e ON e.id = x.event AND e.received_at = x.event_received_at
), settled AS (
  SELECT n, event, scope, destination, replay, idempotency_key, event_body FROM delivered
  UNION ALL SELECT n, event, scope, destination, replay, idempotency_key, event_body FROM retried
  UNION ALL SELECT n, event, scope, destination, replay, idempotency_key, body IS NULL FROM exhausted
), history AS (
  INSERT INTO hookonce.attempt (started_at, delivery, event, scope, number, duration_ms, status_code, outcome, destination,
    reason, replay, idempotency_key, event_body)
  SELECT s.started_at, s.id, t.event, t.scope, s.number, s.duration_ms, s.status_code, s.outcome, t.destination,
         nullif(s.reason, ''), t.replay, t.idempotency_key, nullif(t.event_body, false)
  FROM settled t JOIN s ON s.n = t.n
), tallied AS (
  UPDATE hookonce.replay r
  SET succeeded = r.succeeded + c.succeeded, failed = r.failed + c.failed, failing = r.failing + c.failing
  FROM (
    SELECT t.replay, count(*) FILTER (WHERE s.outcome = 1) AS succeeded, count(*) FILTER (WHERE s.outcome = 3) AS failed,
           count(*) FILTER (WHERE s.outcome <> 1 AND s.number = 1) AS failing
    FROM settled t JOIN s ON s.n = t.n WHERE t.replay IS NOT NULL GROUP BY t.replay
  ) c
  WHERE r.id = c.replay
)
SELECT n FROM settled
