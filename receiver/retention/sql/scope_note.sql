UPDATE hookonce.scope SET claims_kept = $2, payloads_kept = $3, attempts_kept = $4 WHERE name = $1 RETURNING id
