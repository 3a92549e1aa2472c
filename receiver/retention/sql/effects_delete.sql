-- Of all functions: $3 is not needed, as the age holds for all endpoints.
DELETE FROM hookonce.effect x
WHERE x.ctid >= $1::text::tid AND x.ctid < $2::text::tid AND $3::int IS NOT NULL AND x.received_at < $4
  AND NOT EXISTS (SELECT FROM hookonce.delivery d WHERE d.event = x.event)
  AND NOT EXISTS (SELECT FROM hookonce.failed_delivery f WHERE f.event = x.event)
