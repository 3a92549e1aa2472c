-- A statement of its own, after the claim: only a new snapshot sees a winner that committed while the claim waited.
SELECT c.key, c.event, c.body_digest, c.status, c.result, current_setting('synchronous_standby_names') <> ''
FROM hookonce.claim c JOIN hookonce.scope s ON s.id = c.scope
WHERE c.scope = $1 AND s.name = $3 AND c.key = ANY ($2::bytea[])
