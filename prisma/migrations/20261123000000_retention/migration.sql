-- Drops the partition of the ids from `from_at` up to `to_at`. Returns `dropped`, or `needed` if a row
-- of it is still needed; null if there is no such partition or another session drops one.
--
-- It needs exclusive locks on the parent, the partition and the default partition. Statements that come
-- later wait behind it. So it waits at most 15 ms for the parent and not at all for the others, and the
-- caller tries again. DETACH CONCURRENTLY runs only outside a function and only without a default
-- partition.
--
-- A delivery that waits to be polled is needed for a day after the start of its round. Nobody can read it
-- later.
CREATE FUNCTION svc_drop_partition(parent text, from_at timestamptz, to_at timestamptz)
  RETURNS text LANGUAGE plpgsql SET "TimeZone" = 'UTC' SET lock_timeout = '15ms' AS $$
DECLARE
  low uuid := svc_uuid_floor(from_at);
  high uuid := svc_uuid_floor(to_at);
  partition text;
  needed boolean;
BEGIN
  IF parent NOT IN ('usage_reports', 'deliveries', 'delivery_attempts') THEN
    RAISE EXCEPTION '% has no partitions', parent USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF to_at > svc_now() - interval '30 days' THEN
    RAISE EXCEPTION 'rows are kept for at least 30 days' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF NOT pg_try_advisory_xact_lock(hashtext('svc_drop_partition')) THEN
    RETURN NULL;
  END IF;
  SELECT c.relname INTO partition FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = to_regclass(quote_ident(parent))
    AND pg_get_expr(c.relpartbound, c.oid) = format('FOR VALUES FROM (%L) TO (%L)', low, high);
  IF partition IS NULL THEN
    RETURN NULL;
  END IF;
  -- Once without locks, and once more when no other session can change the answer.
  FOR reading IN 1..2 LOOP
    IF reading = 2 THEN
      EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', parent);
      EXECUTE format('LOCK TABLE %I, %I IN ACCESS EXCLUSIVE MODE NOWAIT', parent || '_default', partition);
    END IF;
    CASE parent
      WHEN 'deliveries' THEN
        EXECUTE format(
          'SELECT EXISTS (SELECT FROM %1$I WHERE status = ''pending'') OR EXISTS (SELECT FROM %1$I WHERE status = ''queued'')
             OR EXISTS (SELECT FROM %1$I WHERE status = ''waiting'' AND round_started_at > svc_now() - interval ''1 day'')',
          partition) INTO needed;
      WHEN 'delivery_attempts' THEN
        needed := EXISTS (SELECT FROM deliveries WHERE id >= low AND id < high);
      WHEN 'usage_reports' THEN
        needed := EXISTS (SELECT FROM submissions_in_flight WHERE submission_id >= low AND submission_id < high);
    END CASE;
    IF needed THEN
      RETURN 'needed';
    END IF;
  END LOOP;
  EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, partition);
  EXECUTE format('DROP TABLE %I', partition);
  RETURN 'dropped';
END $$;

-- Deletes the events older than `before_at` that have no delivery, among the first `page_rows` events
-- after `after_id`. `last_id` is the last event of the page. It is null if there is none, or if another
-- session deletes events.
CREATE FUNCTION svc_delete_events(before_at timestamptz, after_id uuid, page_rows int, OUT deleted bigint, OUT last_id uuid)
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
  -- A subquery for each event can only use the index of `event_id`. An anti-join could read all deliveries.
  DELETE FROM events e WHERE e.id = ANY(ids)
    AND (SELECT d.id FROM deliveries d WHERE d.event_id = e.id LIMIT 1) IS NULL;
  GET DIAGNOSTICS deleted = ROW_COUNT;
END $$;

-- Statements that come later wait behind this lock too. A partition that is not created now is created
-- an hour later, months before its first row.
ALTER FUNCTION svc_make_partition(text, timestamptz, timestamptz) SET lock_timeout = '15ms';
