-- One event with one function, as far as it goes before that: what claim.sql, event_insert.sql and delivery_insert.sql do.
-- Nothing is stored, and no event is returned, unless the claim has just been won. Arrays come as in batch.sql. The limits
-- hold from the claim's wait on: a statement of their own would cost as much as a write.
WITH limits AS (
  SELECT set_config('lock_timeout', $20, true), set_config('statement_timeout', $21, true),
         set_config('synchronous_commit', CASE current_setting('synchronous_commit')
           WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)
), won AS (
  INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status)
  SELECT s.id, $3::bytea, $4::uuid, $5::bytea, $6::smallint, $7::smallint
  FROM limits, hookonce.scope s WHERE s.id = $1::int AND s.name = $2
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
SELECT event FROM won
