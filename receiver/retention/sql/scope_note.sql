UPDATE hookonce.scope SET claims_kept = $2, payloads_kept = $3 WHERE name = $1 RETURNING id
