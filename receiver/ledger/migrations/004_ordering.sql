-- The resource that a delivery keeps its place for, at destinations that want the order of each resource's events. NULL:
-- none. What a function enqueues always has its event's, for it does not know of the destination.
ALTER TABLE hookonce.delivery ADD COLUMN resource text COLLATE "C";
ALTER TABLE hookonce.failed_delivery ADD COLUMN resource text COLLATE "C";

-- Whether something is before a delivery. Nothing is in them where nothing is ordered, and no update of a lease touches them.
CREATE INDEX delivery_order ON hookonce.delivery (scope, destination, resource, event_received_at, id) WHERE resource IS NOT NULL;
CREATE INDEX failed_delivery_order ON hookonce.failed_delivery (scope, destination, resource, event_received_at, id)
  WHERE resource IS NOT NULL;

-- As before, with the resource, and an id that grows: messages of one event are in the order in which they were enqueued.
CREATE OR REPLACE FUNCTION hookonce.enqueue_bytes(e hookonce.event, destination text, key text, body bytea, content_type text)
  RETURNS uuid LANGUAGE sql VOLATILE AS $$
  INSERT INTO hookonce.delivery
    (id, scope, event, event_received_at, destination, next_attempt_at, idempotency_key, content_type, body, resource)
  VALUES (encode(int8send((extract(epoch FROM clock_timestamp()) * 1000000)::bigint) || substr(uuid_send(gen_random_uuid()), 9, 8),
    'hex')::uuid, e.scope, e.id, e.received_at, destination, now(), key, content_type, body, e.resource_id)
  RETURNING id
$$;
