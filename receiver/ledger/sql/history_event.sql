-- The event of an id, by the key of its claim. Without its payload only the claim is known.
SELECT c.event, c.received_at, c.status, c.state, coalesce(e.event_type, ''), coalesce(e.resource_id, ''), e.id IS NOT NULL
FROM hookonce.claim c
LEFT JOIN hookonce.event e ON e.id = c.event AND e.received_at = c.received_at
WHERE c.scope = $1 AND c.key = $2
