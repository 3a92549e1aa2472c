-- The latest $2 replays.
SELECT id, name, created_at, sent_at, matched, sent, skipped, succeeded, failed, failing, stopped
FROM hookonce.replay WHERE scope = $1 ORDER BY created_at DESC LIMIT $2
