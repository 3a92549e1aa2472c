-- A stretch of pages, read once and in order. What is unfinished or failed keeps its event.
DELETE FROM hookonce.day_partition e
WHERE e.ctid >= $1::text::tid AND e.ctid < $2::text::tid AND e.scope = $3 AND e.received_at < $4
  AND NOT EXISTS (SELECT FROM hookonce.delivery d WHERE d.event = e.id)
  AND NOT EXISTS (SELECT FROM hookonce.failed_delivery f WHERE f.event = e.id)
