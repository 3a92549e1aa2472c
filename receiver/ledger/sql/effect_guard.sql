-- All guards of an event at once and in one order, before any function runs: transactions that share several wait in
-- line, not in a circle. Their scopes are proved as in claim.sql.
INSERT INTO hookonce.effect (scope, key, event)
SELECT s.id, $3::bytea, $4::uuid
FROM unnest($1::int[], $2::text[]) AS g (scope, name) JOIN hookonce.scope s ON s.id = g.scope AND s.name = g.name
ORDER BY s.id
ON CONFLICT (scope, key) DO NOTHING
RETURNING scope
