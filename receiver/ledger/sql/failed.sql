SELECT count(*) FROM hookonce.failed_delivery WHERE scope = $1
