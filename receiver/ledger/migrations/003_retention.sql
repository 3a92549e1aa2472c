-- How long an endpoint keeps attempts; NULL is as long as payloads.
ALTER TABLE hookonce.scope ADD COLUMN attempts_kept interval;

-- As before, with an age of its own for attempts.
CREATE OR REPLACE FUNCTION hookonce.drop_day(name text) RETURNS boolean LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  begins timestamptz;
  ends timestamptz;
  needed boolean;
BEGIN
  IF name !~ '^(event|attempt)_[0-9]{8}$' THEN
    RAISE EXCEPTION '% is not the name of a day''s partition', name USING ERRCODE = 'invalid_parameter_value';
  END IF;
  begins := to_date(right(name, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC';
  ends := begins + interval '24 hours';
  EXECUTE format($q$
    SELECT EXISTS (SELECT FROM hookonce.%1$I) AND EXISTS (
        SELECT FROM hookonce.scope s,
          LATERAL (SELECT CASE WHEN $3 THEN coalesce(s.attempts_kept, s.payloads_kept) ELSE s.payloads_kept END AS kept) k
        WHERE starts_with(s.name, 'endpoint:')
          AND (k.kept > clock_timestamp() - $2
            OR k.kept IS NULL AND EXISTS (SELECT FROM hookonce.%1$I e WHERE e.scope = s.id)))
      OR NOT $3 AND EXISTS (SELECT FROM hookonce.delivery WHERE event_received_at >= $1 AND event_received_at < $2)
      OR NOT $3 AND EXISTS (SELECT FROM hookonce.failed_delivery WHERE event_received_at >= $1 AND event_received_at < $2)
  $q$, name) INTO needed USING begins, ends, starts_with(name, 'attempt_');
  IF NOT needed THEN
    EXECUTE format('DROP TABLE hookonce.%I', name);
  END IF;
  RETURN NOT needed;
END
$$;
