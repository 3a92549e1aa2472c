SELECT id, name, created_at, sent_at, matched, sent, skipped, succeeded, failed, failing, stopped
FROM hookonce.replay WHERE id = $1 AND scope = $2
