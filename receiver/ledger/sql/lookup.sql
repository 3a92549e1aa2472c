-- A statement of its own, after the claim: only a new snapshot sees a winner that committed while the claim waited. Not
-- the row of this very event: its body may have been claimed before its id was found taken, and is rolled back.
SELECT key, body_digest, status, result, current_setting('synchronous_standby_names') <> ''
FROM hookonce.claim
WHERE scope = $1 AND key = ANY ($2::bytea[]) AND event <> $3
