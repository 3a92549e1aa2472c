-- As claim.sql, for an event whose id is not signed: the body first, and the id only if the body is new, so that a known
-- body under a fresh id writes nothing. All transactions take the two in this order, so none waits in a circle.
WITH body AS (
  INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status, result)
  SELECT s.id, $8::bytea, $3::uuid, $4::bytea, $5::smallint, $6::smallint, $9::bytea
  FROM hookonce.scope s WHERE s.id = $1 AND s.name = $7
  ON CONFLICT (scope, key) DO NOTHING
  RETURNING key
)
INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status)
SELECT $1::int, $2::bytea, $3::uuid, $4::bytea, $5::smallint, $6::smallint WHERE EXISTS (SELECT FROM body)
ON CONFLICT (scope, key) DO NOTHING
