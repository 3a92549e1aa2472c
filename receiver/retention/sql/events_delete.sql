-- A stretch of pages of one day's partition, read once and in order. It is named by its day, $5 to $6: on partitions
-- themselves nobody but their owner has rights. What is unfinished or failed keeps its event.
DELETE FROM hookonce.event e
WHERE e.received_at >= $5 AND e.received_at < $6
  AND e.ctid >= $1::text::tid AND e.ctid < $2::text::tid AND e.scope = $3 AND e.received_at < $4
  AND NOT EXISTS (SELECT FROM hookonce.delivery d WHERE d.event = e.id)
  AND NOT EXISTS (SELECT FROM hookonce.failed_delivery f WHERE f.event = e.id)
