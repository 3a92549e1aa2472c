-- effect_function stands for the quoted name of the user's function. Only the transaction that has just won the claim finds
-- the two rows, so that the function is called at most once; the answer is put together here, for one round trip.
UPDATE hookonce.claim c
SET result = convert_to($4::text || coalesce(effect_function(e)::jsonb::text, 'null') || $5::text, 'UTF8')
FROM hookonce.event e
WHERE c.scope = $1::int AND c.key = $2::bytea AND c.event = $3::uuid AND e.id = $3 AND e.received_at = now()
RETURNING c.result
