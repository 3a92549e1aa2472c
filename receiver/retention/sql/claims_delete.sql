-- A claim outlives every unfinished or failed delivery of its event.
DELETE FROM hookonce.claim c
WHERE c.ctid >= $1::text::tid AND c.ctid < $2::text::tid AND c.scope = $3 AND c.received_at < $4
  AND NOT EXISTS (SELECT FROM hookonce.delivery d WHERE d.event = c.event)
  AND NOT EXISTS (SELECT FROM hookonce.failed_delivery f WHERE f.event = c.event)
