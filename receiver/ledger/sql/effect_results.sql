SELECT scope, result::text FROM hookonce.effect WHERE scope = ANY ($1::int[]) AND key = $2
