-- A statement of its own, after the claim: only a new snapshot sees a winner that committed while the claim waited. Not
-- the row of this very event: its body may have been claimed before its id was found taken, and is rolled back.
SELECT c.key, c.body_digest, c.status, c.result, current_setting('synchronous_standby_names') <> ''
FROM hookonce.claim c JOIN hookonce.scope s ON s.id = c.scope
WHERE c.scope = $1 AND s.name = $4 AND c.key = ANY ($2::bytea[]) AND c.event <> $3
