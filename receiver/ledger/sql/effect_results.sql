SELECT e.scope, e.result::text
FROM unnest($1::int[], $2::text[]) AS g (scope, name) JOIN hookonce.scope s ON s.id = g.scope AND s.name = g.name
JOIN hookonce.effect e ON e.scope = s.id AND e.key = $3
