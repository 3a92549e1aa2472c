-- Born leased to the process that received the event: it delivers from memory.
INSERT INTO hookonce.delivery
  (id, scope, event, event_received_at, destination, next_attempt_at, lease_token, leased_until)
SELECT u.id, $1, $2, now(), u.destination, now(), $5, clock_timestamp() + $6::interval
FROM unnest($3::uuid[], $4::text[]) AS u (id, destination)
