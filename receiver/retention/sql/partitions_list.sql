-- Partitions are named after their day (UTC); others were made by hand and are left alone.
SELECT c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC'
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = ANY (ARRAY['hookonce.event'::regclass, 'hookonce.attempt'::regclass])
  AND c.relname ~ '^(event|attempt)_[0-9]{8}$'
ORDER BY c.relname
