-- With synchronous standbys a visible claim may not be on them yet, if its commit's wait was cut short. A row lock is
-- written, so the commit that follows waits for the standbys, and they get the claim before it. In the order of the keys,
-- so that two that share several wait in line and not in a circle.
SELECT u.key, c.event, c.body_digest, c.status, c.result, current_setting('synchronous_standby_names') <> ''
FROM (SELECT u.key FROM unnest((SELECT $2::bytea[])) AS u (key) ORDER BY u.key) AS u,
LATERAL (SELECT c.* FROM hookonce.claim c WHERE c.scope = $1 AND c.key = u.key LIMIT 1 FOR UPDATE) AS c
WHERE EXISTS (SELECT FROM hookonce.scope WHERE id = $1::int AND name = $3)
