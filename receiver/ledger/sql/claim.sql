-- Waits while another transaction claims the same key; then inserts, or finds that it is taken and writes nothing. The
-- number of the scope is remembered from an earlier transaction, so it is proved: a ledger that was put back to an earlier
-- state may have given it to another endpoint.
INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status)
SELECT s.id, $2::bytea, $3::uuid, $4::bytea, $5::smallint, $6::smallint
FROM hookonce.scope s WHERE s.id = $1 AND s.name = $7
ON CONFLICT (scope, key) DO NOTHING
