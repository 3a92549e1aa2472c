-- Whether everything in a day's partition is past the age of the endpoint it belongs to, and nothing unfinished or failed
-- refers to it. $1 and $2 are the beginning and the end of the day, $3 begins the names of endpoints' scopes;
-- day_partition stands for the partition's name. Rows of an endpoint whose age is not known keep it.
SELECT (NOT EXISTS (SELECT FROM hookonce.day_partition)
     OR NOT EXISTS (
       SELECT FROM hookonce.scope s
       WHERE starts_with(s.name, $3)
         AND (s.payloads_kept > clock_timestamp() - $2::timestamptz
           OR s.payloads_kept IS NULL AND EXISTS (SELECT FROM hookonce.day_partition e WHERE e.scope = s.id))
     ))
 AND NOT EXISTS (SELECT FROM hookonce.delivery WHERE event_received_at >= $1 AND event_received_at < $2)
 AND NOT EXISTS (SELECT FROM hookonce.failed_delivery WHERE event_received_at >= $1 AND event_received_at < $2)
