-- Many events without effects in one statement: what claim.sql, claim_body.sql, event_insert.sql and delivery_insert.sql do
-- for one. Keys are taken in one order, and all bodies before all ids, so that transactions that share several wait in line
-- and not in a circle; the count in won makes fresh come first as a whole. Who lost is looked up later, in a new snapshot:
-- see lookup.sql. Arrays come through subqueries, so that the planner does not look at their lengths: a plan for these very
-- ones would never seem dearer than the one for all, and be made each time. What is large comes last, so that the client's
-- buffer grows to its size at once.
WITH fresh AS (
  -- A body under an id that is known is not new: its event is a duplicate or a conflict of the id.
  INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status, result)
  SELECT $1::int, u.key, u.event, u.digest, $3::smallint, $4::smallint, u.result
  FROM unnest((SELECT $11::bytea[]), (SELECT $12::uuid[]), (SELECT $13::bytea[]), (SELECT $14::bytea[]), (SELECT $15::bytea[])) AS u (key, event, digest, result, id_key)
  WHERE EXISTS (SELECT FROM hookonce.scope WHERE id = $1 AND name = $2)
    AND (SELECT c.scope FROM hookonce.claim c WHERE c.scope = $1 AND c.key = u.id_key LIMIT 1) IS NULL
  ORDER BY u.key
  ON CONFLICT (scope, key) DO NOTHING
  RETURNING event
), won AS (
  INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status)
  SELECT $1, u.key, u.event, u.digest, $3, $4
  FROM unnest((SELECT $7::bytea[]), (SELECT $8::uuid[]), (SELECT $9::bytea[]), (SELECT $10::boolean[])) AS u (key, event, digest, claims_body)
  WHERE (SELECT count(*) FROM fresh) >= 0
    AND EXISTS (SELECT FROM hookonce.scope WHERE id = $1 AND name = $2)
    AND (NOT u.claims_body OR u.event IN (SELECT event FROM fresh))
  ORDER BY u.key
  ON CONFLICT (scope, key) DO NOTHING
  RETURNING event
), stored AS (
  INSERT INTO hookonce.event (id, scope, endpoint, event_id, event_type, resource_id, content_type, headers, body, payload)
  SELECT u.id, $1, $5::text, u.event_id, u.event_type, u.resource_id, u.content_type, u.headers, u.body, u.payload
  FROM unnest((SELECT $8::uuid[]), (SELECT $16::text[]), (SELECT $17::text[]), (SELECT $18::text[]), (SELECT $19::text[]), (SELECT $25::bytea[]), (SELECT $27::bytea[]), (SELECT $26::bytea[]))
    AS u (id, event_id, event_type, resource_id, content_type, headers, body, payload)
  WHERE u.id IN (SELECT event FROM won)
), owed AS (
  INSERT INTO hookonce.delivery
    (id, scope, event, event_received_at, destination, next_attempt_at, lease_token, leased_until, resource)
  SELECT u.id, $1, u.event, now(), u.destination, now(), CASE WHEN u.resource IS NULL THEN $6::uuid END,
         CASE WHEN u.resource IS NULL THEN clock_timestamp() + u.term_us * interval '1 microsecond' END, u.resource
  FROM unnest((SELECT $20::uuid[]), (SELECT $21::uuid[]), (SELECT $22::text[]), (SELECT $23::bigint[]), (SELECT $24::text[]))
    AS u (id, event, destination, term_us, resource)
  WHERE u.event IN (SELECT event FROM won)
)
-- A body that was claimed while its id was not must not stay claimed: the division fails the transaction, and each event
-- goes alone.
SELECT (SELECT array_agg(event) FROM won),
       1 / (CASE WHEN EXISTS (SELECT event FROM fresh EXCEPT SELECT event FROM won) THEN 0 ELSE 1 END)
