SELECT failed_at, destination, event_id, reason FROM hookonce.failed_delivery
WHERE scope = $1 ORDER BY failed_at DESC LIMIT 1
