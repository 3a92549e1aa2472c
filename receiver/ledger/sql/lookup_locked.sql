-- With synchronous standbys a visible claim may not be on them yet, if its commit's wait was cut short. A row lock is
-- written, so the commit that follows waits for the standbys, and they get the claim before it.
SELECT key, body_digest, status, result, current_setting('synchronous_standby_names') <> ''
FROM hookonce.claim
WHERE scope = $1 AND key = ANY ($2::bytea[]) AND event <> $3
ORDER BY key
FOR UPDATE
