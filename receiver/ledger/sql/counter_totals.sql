-- Bounded: the oldest $2 rows, so that totals never shrink. Prune keeps the table far below that.
SELECT c.name, sum(c.n)::bigint
FROM (SELECT name, n FROM hookonce.counter WHERE scope = $1 ORDER BY minute LIMIT $2) AS c
GROUP BY c.name
