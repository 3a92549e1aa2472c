-- As quick.sql, for an event whose id is not signed: the body first, as in batch.sql. A body under an id that is known is
-- not new, and one that was claimed while its id was not must not stay claimed: the division fails the transaction.
WITH limits AS (
  SELECT set_config('lock_timeout', $20, true), set_config('statement_timeout', $21, true),
         set_config('synchronous_commit', CASE current_setting('synchronous_commit')
           WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)
), body AS (
  INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status)
  SELECT s.id, $23::bytea, $4::uuid, $5::bytea, $6::smallint, $7::smallint
  FROM limits, hookonce.scope s WHERE s.id = $1::int AND s.name = $2
    AND (SELECT c.scope FROM hookonce.claim c WHERE c.scope = $1 AND c.key = $3 LIMIT 1) IS NULL
  ON CONFLICT (scope, key) DO NOTHING
  RETURNING event
), won AS (
  INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status)
  SELECT $1, $3::bytea, body.event, $5, $6, $7 FROM body
  ON CONFLICT (scope, key) DO NOTHING
  RETURNING event
), stored AS (
  INSERT INTO hookonce.event (id, scope, endpoint, event_id, event_type, resource_id, content_type, headers, body, payload)
  SELECT won.event, $1, $8::text, $9::text, $10::text, $11::text, $12::text, $13::bytea, $14::bytea, $15::bytea FROM won
), owed AS (
  INSERT INTO hookonce.delivery
    (id, scope, event, event_received_at, destination, next_attempt_at, lease_token, leased_until, resource)
  SELECT u.id, $1, won.event, now(), u.destination, now(), CASE WHEN u.resource IS NULL THEN $16::uuid END,
         CASE WHEN u.resource IS NULL THEN clock_timestamp() + $17::bigint * interval '1 microsecond' END, u.resource
  FROM won, unnest((SELECT $18::uuid[]), (SELECT $19::text[]), (SELECT $22::text[])) AS u (id, destination, resource)
)
SELECT (SELECT event FROM won), 1 / (CASE WHEN (SELECT count(*) FROM body) > (SELECT count(*) FROM won) THEN 0 ELSE 1 END)
