DELETE FROM hookonce.day_partition a
WHERE a.ctid >= $1::text::tid AND a.ctid < $2::text::tid AND a.scope = $3 AND a.settled_at < $4
