-- The answer is also that of the body, where that is claimed.
UPDATE hookonce.claim b
SET result = (SELECT c.result FROM hookonce.claim c WHERE c.scope = $1 AND c.key = $2::bytea)
WHERE b.scope = $1::int AND b.key = $4::bytea AND b.event = $3::uuid
