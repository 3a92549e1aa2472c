-- Deliveries in a state ($2: Pending, Failed, Delivered; empty for all), to a destination ($3), of an event ($4), since $5:
-- the latest $6. An event's own are found by it, whatever their age.
WITH listed AS (
  (SELECT 'Pending' AS state, d.id, d.event, d.event_received_at, d.destination, d.attempts, d.next_attempt_at AS at, 0 AS status_code,
          '' AS reason, coalesce(d.idempotency_key, d.id::text) AS key
   FROM hookonce.delivery d
   WHERE d.scope = $1 AND $2::text IN ('', 'Pending') AND ($3::text = '' OR d.destination = $3)
     AND CASE WHEN $4::uuid IS NULL THEN d.event_received_at >= $5 ELSE d.event = $4 END
   ORDER BY d.next_attempt_at DESC LIMIT $6)
  UNION ALL
  (SELECT 'Failed', f.id, f.event, f.event_received_at, f.destination, f.attempts, f.failed_at, f.status_code, f.reason,
          coalesce(f.idempotency_key, f.id::text)
   FROM hookonce.failed_delivery f
   WHERE f.scope = $1 AND $2 IN ('', 'Failed') AND ($3 = '' OR f.destination = $3)
     AND CASE WHEN $4 IS NULL THEN f.failed_at >= $5 ELSE f.event = $4 END
   ORDER BY f.failed_at DESC LIMIT $6)
  UNION ALL
  (SELECT 'Delivered', a.delivery, a.event, NULL, a.destination, a.number, a.settled_at, a.status_code, '',
          coalesce(a.idempotency_key, a.delivery::text)
   FROM hookonce.attempt a
   WHERE a.scope = $1 AND $2 IN ('', 'Delivered') AND a.outcome = 1 AND ($3 = '' OR a.destination = $3) AND a.settled_at >= $5
     AND ($4 IS NULL OR a.event = $4)
   ORDER BY a.settled_at DESC LIMIT $6)
)
SELECT l.state, l.id, l.destination, coalesce(e.event_id, ''), coalesce(e.event_type, ''), l.attempts, l.at, l.status_code, l.reason, l.key
FROM (SELECT * FROM listed ORDER BY at DESC LIMIT $6) l
LEFT JOIN LATERAL (
  SELECT e.event_id, e.event_type FROM hookonce.event e
  WHERE e.id = l.event AND (l.event_received_at IS NULL OR e.received_at = l.event_received_at) LIMIT 1) e ON true
ORDER BY l.at DESC, l.id
