-- As claim.sql, for an event whose id is not signed: the body first, and the id only if the body is new, so that a known
-- body under a fresh id writes nothing. All transactions take the two in this order, so none waits in a circle.
WITH body AS (
  INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status, result)
  VALUES ($1, $7, $3, $4, $5, $6, $8)
  ON CONFLICT (scope, key) DO NOTHING
  RETURNING key
)
INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status)
SELECT $1, $2, $3, $4, $5, $6 WHERE EXISTS (SELECT FROM body)
ON CONFLICT (scope, key) DO NOTHING
