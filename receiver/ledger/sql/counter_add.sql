INSERT INTO hookonce.counter AS c (scope, minute, name, cause, n)
SELECT $1, u.minute, u.name, u.cause, u.n
FROM unnest($2::timestamptz[], $3::text[], $4::text[], $5::bigint[]) AS u (minute, name, cause, n)
ORDER BY u.minute, u.name, u.cause
ON CONFLICT (scope, minute, name, cause) DO UPDATE SET n = c.n + excluded.n
