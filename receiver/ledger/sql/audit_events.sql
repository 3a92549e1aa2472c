-- Ids that were claimed since $2, by their claims; and what a claim is there to make impossible, looked for without it: ids
-- that have a second event, among the events whose payloads are kept.
SELECT (SELECT count(DISTINCT c.event) FROM hookonce.claim c
        WHERE c.scope = $1 AND ($2::timestamptz IS NULL OR c.received_at >= $2)),
       (SELECT coalesce(sum(e.n - 1), 0)::bigint
        FROM (SELECT count(*) AS n FROM hookonce.event
              WHERE scope = $1 AND ($2::timestamptz IS NULL OR received_at >= $2)
              GROUP BY event_id HAVING count(*) > 1) e)
