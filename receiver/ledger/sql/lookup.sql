-- A statement of its own, after the claim: only a new snapshot sees a winner that committed while the claim waited. One
-- probe of the index for each key, whatever the planner believes of the table: the plan may be older than its rows.
SELECT u.key, c.event, c.body_digest, c.status, c.result, current_setting('synchronous_standby_names') <> ''
FROM unnest((SELECT $2::bytea[])) AS u (key),
LATERAL (SELECT c.* FROM hookonce.claim c WHERE c.scope = $1 AND c.key = u.key LIMIT 1) AS c
WHERE EXISTS (SELECT FROM hookonce.scope WHERE id = $1::int AND name = $3)
