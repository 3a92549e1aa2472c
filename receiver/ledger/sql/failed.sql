-- Bounded: of more, as many as $2 are counted.
SELECT count(*) FROM (SELECT FROM hookonce.failed_delivery WHERE scope = $1 ORDER BY failed_at LIMIT $2) AS f
