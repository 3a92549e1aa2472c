-- Bounded: of a larger outbox, as many as $2 are counted, and the oldest of those is returned.
SELECT count(*), min(p.event_received_at), clock_timestamp()
FROM (SELECT event_received_at FROM hookonce.delivery WHERE scope = $1 ORDER BY next_attempt_at LIMIT $2) AS p
