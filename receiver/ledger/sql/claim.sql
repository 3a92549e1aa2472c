-- Waits while another transaction claims the same key; then inserts, or finds that it is taken and writes nothing.
INSERT INTO hookonce.claim (scope, key, event, body_digest, state, status)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (scope, key) DO NOTHING
