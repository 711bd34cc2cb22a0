-- A delivery is created together with its event, so its id has the same time. The deliveries of an event
-- are found by that time, without an index of `event_id`.
DROP INDEX "deliveries_event_id_idx";

-- The time in a UUIDv7, to the millisecond.
CREATE FUNCTION svc_uuid_time(id uuid) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);

-- As before, but an event stays while any delivery has an id of the day after it. Deliveries are dropped
-- by whole months, so those are the deliveries of a month that is still needed.
CREATE OR REPLACE FUNCTION svc_delete_events(before_at timestamptz, after_id uuid, page_rows int, OUT deleted bigint, OUT last_id uuid)
  LANGUAGE plpgsql SET lock_timeout = '15ms' AS $$
DECLARE
  ids uuid[];
BEGIN
  deleted := 0;
  IF before_at > svc_now() - interval '30 days' THEN
    RAISE EXCEPTION 'rows are kept for at least 30 days' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF NOT pg_try_advisory_xact_lock(hashtext('svc_delete_events')) THEN
    RETURN;
  END IF;
  SELECT array_agg(id ORDER BY id) INTO ids FROM (
    SELECT id FROM events
    WHERE id > COALESCE(after_id, '00000000-0000-0000-0000-000000000000') AND id < svc_uuid_floor(before_at)
    ORDER BY id LIMIT page_rows
  ) AS page;
  IF ids IS NULL THEN
    RETURN;
  END IF;
  last_id := ids[cardinality(ids)];
  -- A subquery for each event can only use the primary key. An anti-join could read all deliveries. The
  -- range begins a second early, because events and deliveries of one millisecond have no order.
  DELETE FROM events e WHERE e.id = ANY(ids)
    AND (SELECT d.id FROM deliveries d
      WHERE d.id >= svc_uuid_floor(svc_uuid_time(e.id) - interval '1 second')
        AND d.id < svc_uuid_floor(svc_uuid_time(e.id) + interval '1 day') LIMIT 1) IS NULL;
  GET DIAGNOSTICS deleted = ROW_COUNT;
END $$;
