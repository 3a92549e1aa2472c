-- As events_delete.sql.
DELETE FROM hookonce.attempt a
WHERE a.settled_at >= $5 AND a.settled_at < $6
  AND a.ctid >= $1::text::tid AND a.ctid < $2::text::tid AND a.scope = $3 AND a.settled_at < $4
