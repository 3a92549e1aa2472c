-- Born leased to the process that received the event: it delivers from memory. What keeps its place for a resource is leased
-- when its turn comes.
INSERT INTO hookonce.delivery
  (id, scope, event, event_received_at, destination, next_attempt_at, lease_token, leased_until, resource)
SELECT u.id, $1, $2, now(), u.destination, now(), CASE WHEN u.resource IS NULL THEN $5::uuid END,
       CASE WHEN u.resource IS NULL THEN clock_timestamp() + $6::interval END, u.resource
FROM unnest($3::uuid[], $4::text[], $7::text[]) AS u (id, destination, resource)
