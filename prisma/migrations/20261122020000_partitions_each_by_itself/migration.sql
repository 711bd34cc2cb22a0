-- Makes one partition, for the ids from `from_at` up to `to_at`, and moves the rows of that range out
-- of the default partition. Returns how many rows it moved; null if the partition exists or another
-- session is making one. The caller makes each partition in a transaction of its own.
--
-- The partition is attached, not created in place, so the only lock that excludes readers is on the
-- default partition. A dump holds that table for hours: the function gives up after 200 ms, because
-- statements that come later wait behind it.
CREATE FUNCTION svc_make_partition(parent text, from_at timestamptz, to_at timestamptz)
  RETURNS bigint LANGUAGE plpgsql SET "TimeZone" = 'UTC' SET lock_timeout = '200ms' AS $$
DECLARE
  is_month boolean := from_at = date_trunc('month', from_at) AND to_at = from_at + interval '1 month';
  partition text := parent || to_char(from_at, CASE WHEN is_month THEN '_YYYY_MM' ELSE '_YYYY_MM_DD_HH24MI' END);
  key text := CASE parent
    WHEN 'usage_reports' THEN 'submission_id' WHEN 'deliveries' THEN 'id' WHEN 'delivery_attempts' THEN 'delivery_id' END;
  moved bigint;
BEGIN
  IF key IS NULL THEN
    RAISE EXCEPTION '% has no partitions', parent USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF NOT pg_try_advisory_xact_lock(hashtext('svc_make_partition'))
    OR EXISTS (SELECT FROM pg_class WHERE relname = partition AND relnamespace = current_schema()::regnamespace) THEN
    RETURN NULL;
  END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', partition, parent);
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_default');
  EXECUTE format('WITH stray AS (DELETE FROM %I WHERE %I >= %L AND %I < %L RETURNING *) INSERT INTO %I SELECT * FROM stray',
    parent || '_default', key, svc_uuid_floor(from_at), key, svc_uuid_floor(to_at), partition);
  GET DIAGNOSTICS moved = ROW_COUNT;
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
    parent, partition, svc_uuid_floor(from_at), svc_uuid_floor(to_at));
  RETURN moved;
END $$;

-- It made all partitions in one transaction, with an exclusive lock on each table, and reckoned
-- months in the zone of the session.
DROP FUNCTION svc_ensure_partitions();
