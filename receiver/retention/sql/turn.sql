-- Prunes of several endpoints start at the same minute; they take turns, batch by batch.
SELECT pg_advisory_xact_lock(hashtextextended('hookonce.prune', 0))
