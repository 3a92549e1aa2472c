SELECT name, sum(n)::bigint FROM hookonce.counter WHERE scope = $1 GROUP BY name
