-- effect_function stands for the quoted name of the user's function.
SELECT effect_function(e)::jsonb::text FROM hookonce.event e WHERE e.id = $1 AND e.received_at = now()
