-- A claim moves `next_attempt_at` only. The index has `due_at` instead: when the delivery first became
-- due, or its current retry. So a claim changes no index and is a heap-only update. A claimed delivery
-- stays in the index, and a claim skips it until its claim expires. Services of the version before this
-- one do not write the column: their retries are found by `next_attempt_at`.
ALTER TABLE "deliveries" ADD COLUMN "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT svc_now();
UPDATE "deliveries" SET due_at = next_attempt_at WHERE status = 'pending' AND next_attempt_at < due_at;

DROP INDEX "deliveries_due_idx";
CREATE INDEX "deliveries_due_idx" ON "deliveries" (tenant_id, due_at) WHERE status = 'pending';

-- Room for the next version of each row on its page. Partitions do not inherit it.
DO $$
DECLARE
  partition regclass;
BEGIN
  FOR partition IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'deliveries'::regclass LOOP
    EXECUTE format('ALTER TABLE %s SET (fillfactor = 50)', partition);
  END LOOP;
END $$;

-- As before, with room on the pages of deliveries, and a look for the partition after the lock.
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
  -- A separate statement, whose snapshot is from after the lock. One statement for both did not see a
  -- partition that a session committed in between, and failed when it created it again.
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
