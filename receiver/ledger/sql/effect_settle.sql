-- effect_function stands for the quoted name of the user's function. Only the transaction that has just won the claim finds
-- its row, so that the function is called at most once; the answer is put together here, for one round trip. The event is
-- given as it was stored: to read it again would have every day's partition locked.
UPDATE hookonce.claim c
SET result = convert_to($4::text || coalesce(effect_function(ROW($3::uuid, now(), $1::int, $6::text, $7::text, $8::text,
  $9::text, $10::text, $11::bytea, $12::bytea, $13::bytea)::hookonce.event)::jsonb::text, 'null') || $5::text, 'UTF8')
WHERE c.scope = $1 AND c.key = $2::bytea AND c.event = $3
RETURNING c.result
