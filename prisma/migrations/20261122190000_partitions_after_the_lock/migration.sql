-- The statement that took the lock also looked for the partition, with a snapshot from before the
-- lock. A session that committed the partition in between was not seen, and creating it again failed.
CREATE OR REPLACE FUNCTION svc_make_partition(parent text, from_at timestamptz, to_at timestamptz)
  RETURNS bigint LANGUAGE plpgsql SET "TimeZone" = 'UTC' SET lock_timeout = '200ms' AS $$
DECLARE
  is_month boolean := from_at = date_trunc('month', from_at) AND to_at = from_at + interval '1 month';
  partition text := parent || to_char(from_at, CASE WHEN is_month THEN '_YYYY_MM' ELSE '_YYYY_MM_DD_HH24MI' END);
  key text := CASE parent
    WHEN 'usage_reports' THEN 'submission_id' WHEN 'deliveries' THEN 'id' WHEN 'delivery_attempts' THEN 'delivery_id' END;
  room text := CASE parent WHEN 'deliveries' THEN ' WITH (fillfactor = 50)' ELSE '' END;
  moved bigint;
BEGIN
  IF key IS NULL THEN
    RAISE EXCEPTION '% has no partitions', parent USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF NOT pg_try_advisory_xact_lock(hashtext('svc_make_partition')) THEN
    RETURN NULL;
  END IF;
  IF EXISTS (SELECT FROM pg_class WHERE relname = partition AND relnamespace = current_schema()::regnamespace) THEN
    RETURN NULL;
  END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)%s', partition, parent, room);
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_default');
  EXECUTE format('WITH stray AS (DELETE FROM %I WHERE %I >= %L AND %I < %L RETURNING *) INSERT INTO %I SELECT * FROM stray',
    parent || '_default', key, svc_uuid_floor(from_at), key, svc_uuid_floor(to_at), partition);
  GET DIAGNOSTICS moved = ROW_COUNT;
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
    parent, partition, svc_uuid_floor(from_at), svc_uuid_floor(to_at));
  RETURN moved;
END $$;
