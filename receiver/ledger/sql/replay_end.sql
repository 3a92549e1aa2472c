-- Ends the sending of replay $1 of scope $2; what it had chosen and not sent is chosen no more.
WITH ended AS (
  UPDATE hookonce.replay SET sent_at = clock_timestamp(), stopped = matched > sent + skipped
  WHERE id = $1 AND scope = $2 AND sent_at IS NULL
  RETURNING id
)
DELETE FROM hookonce.replay_item i USING ended WHERE i.replay = ended.id
