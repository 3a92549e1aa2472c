UPDATE hookonce.effect SET result = $3::jsonb WHERE scope = $1 AND key = $2
RETURNING result::text
