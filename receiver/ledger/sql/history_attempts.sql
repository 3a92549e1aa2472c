-- The attempts of an event's deliveries, in the order in which they were made. They are read by the day: none is older than
-- the event.
SELECT a.delivery, a.destination, a.number, a.started_at, a.duration_ms, a.outcome, a.status_code, coalesce(a.reason, ''),
       coalesce(a.idempotency_key, a.delivery::text), coalesce(r.name, '')
FROM hookonce.attempt a
LEFT JOIN hookonce.replay r ON r.id = a.replay
WHERE a.scope = $1 AND a.event = $2 AND a.settled_at >= $3
ORDER BY a.started_at, a.delivery
LIMIT $4
