-- Old minutes become one row for each day (UTC), and old days one row in all, so that totals never shrink. A minute that begins
-- its day is that row already.
WITH old AS (
  DELETE FROM hookonce.counter
  WHERE scope = $1 AND minute > '-infinity' AND minute < $2 AND (minute < $3 OR minute <> date_trunc('day', minute, 'UTC'))
  RETURNING CASE WHEN minute < $3 THEN '-infinity' ELSE date_trunc('day', minute, 'UTC') END AS begins, name, cause, n
)
INSERT INTO hookonce.counter AS c (scope, minute, name, cause, n)
SELECT $1, begins, name, cause, sum(n) FROM old GROUP BY begins, name, cause ORDER BY begins, name, cause
ON CONFLICT (scope, minute, name, cause) DO UPDATE SET n = c.n + excluded.n
