-- By the database's clock. Effects are shared by endpoints, so the longest retention of claims holds for them; while one
-- is not known, none is removed.
SELECT clock_timestamp() - $1::interval, clock_timestamp() - $2::interval, clock_timestamp() - $3::interval,
       clock_timestamp() - $4::interval, clock_timestamp() - $5::interval, clock_timestamp() - $6::interval,
       CASE WHEN bool_or(claims_kept IS NULL) THEN NULL ELSE clock_timestamp() - max(claims_kept) END
FROM hookonce.scope WHERE starts_with(name, $7)
