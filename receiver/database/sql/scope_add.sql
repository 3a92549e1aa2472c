INSERT INTO hookonce.scope (name, claims_kept, payloads_kept) VALUES ($1, $2, $3)
ON CONFLICT (name) DO NOTHING
