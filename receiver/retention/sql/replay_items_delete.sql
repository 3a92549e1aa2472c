-- What a replay that is past its age has chosen and not sent.
DELETE FROM hookonce.replay_item i
WHERE i.ctid >= $1::text::tid AND i.ctid < $2::text::tid
  AND EXISTS (SELECT FROM hookonce.replay r WHERE r.id = i.replay AND r.scope = $3 AND r.created_at < $4)
