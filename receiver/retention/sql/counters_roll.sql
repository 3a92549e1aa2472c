-- Old minutes become one row, so that totals never shrink.
WITH old AS (
  DELETE FROM hookonce.counter WHERE scope = $1 AND minute > '-infinity' AND minute < $2 RETURNING name, cause, n
)
INSERT INTO hookonce.counter AS c (scope, minute, name, cause, n)
SELECT $1, '-infinity', name, cause, sum(n) FROM old GROUP BY name, cause ORDER BY name, cause
ON CONFLICT (scope, minute, name, cause) DO UPDATE SET n = c.n + excluded.n
