-- What was counted since $2, to the minute for two days and to the day before that; since the beginning if it is NULL.
SELECT c.name, c.cause, sum(c.n)::bigint
FROM hookonce.counter c
WHERE c.scope = $1 AND ($2::timestamptz IS NULL OR c.minute >= $2)
GROUP BY c.name, c.cause
