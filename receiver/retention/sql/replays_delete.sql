-- A replay outlives the deliveries that it has put into the outbox: they count in it when they are done.
DELETE FROM hookonce.replay r
WHERE r.ctid >= $1::text::tid AND r.ctid < $2::text::tid AND r.scope = $3 AND r.created_at < $4
  AND NOT EXISTS (SELECT FROM hookonce.delivery d WHERE d.replay = r.id)
