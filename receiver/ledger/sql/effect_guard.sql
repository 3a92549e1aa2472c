-- All guards of an event at once and in one order, before any function runs: transactions that share several wait in
-- line, not in a circle.
INSERT INTO hookonce.effect (scope, key, event)
SELECT g.scope, $2, $3 FROM unnest($1::int[]) AS g (scope) ORDER BY g.scope
ON CONFLICT (scope, key) DO NOTHING
RETURNING scope
