UPDATE hookonce.claim SET state = $3, status = $4, result = $5
WHERE scope = $1 AND key = ANY ($2::bytea[])
