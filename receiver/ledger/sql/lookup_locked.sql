-- With synchronous standbys a visible claim may not be on them yet, if its commit's wait was cut short. A row lock is
-- written, so the commit that follows waits for the standbys, and they get the claim before it.
SELECT c.key, c.event, c.body_digest, c.status, c.result, current_setting('synchronous_standby_names') <> ''
FROM hookonce.claim c JOIN hookonce.scope s ON s.id = c.scope
WHERE c.scope = $1 AND s.name = $3 AND c.key = ANY ($2::bytea[])
ORDER BY c.key
FOR UPDATE OF c
