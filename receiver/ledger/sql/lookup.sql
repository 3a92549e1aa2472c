-- A statement of its own, after the claim: only a new snapshot sees a winner that committed while the claim waited.
SELECT key, body_digest, status, result, current_setting('synchronous_standby_names') <> ''
FROM hookonce.claim
WHERE scope = $1 AND key = ANY ($2::bytea[])
