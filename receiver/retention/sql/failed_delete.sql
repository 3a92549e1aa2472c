DELETE FROM hookonce.failed_delivery f
WHERE f.ctid >= $1::text::tid AND f.ctid < $2::text::tid AND f.scope = $3 AND f.failed_at < $4
