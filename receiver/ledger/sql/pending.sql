SELECT count(*), min(event_received_at), clock_timestamp() FROM hookonce.delivery WHERE scope = $1
