INSERT INTO hookonce.event (id, scope, endpoint, event_id, event_type, resource_id, content_type, headers, body,
  payload)
VALUES ($1, $2, $3, $4, nullif($5::text, ''), nullif($6::text, ''), nullif($7::text, ''), $8, $9, $10)
