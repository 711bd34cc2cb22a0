-- A migration that earlier builds do not work with adds a row here. Only builds that know
-- `needs_migration` work with the database from then on. A migration that adds something adds no row.
CREATE TABLE "schema_floors" (
    "migration_name" TEXT NOT NULL,
    "needs_migration" TEXT NOT NULL,

    CONSTRAINT "schema_floors_pkey" PRIMARY KEY ("migration_name")
);

-- How far each backfill has come. `last_key` is the last key of the last committed batch.
CREATE TABLE "backfills" (
    "name" TEXT NOT NULL,
    "last_key" TEXT,
    "rows_done" BIGINT NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "backfills_pkey" PRIMARY KEY ("name")
);

-- Runs `statement` for all keys of a table, in batches, and commits after each batch. `$1` is the
-- batch: the keys as TEXT[]. The procedure may be stopped anywhere. A later call with the same name
-- continues after the last committed batch. Rows that are added meanwhile are not its business: the
-- migration before it makes writers fill the new column.
CREATE PROCEDURE svc_backfill(
  backfill_name TEXT, table_name REGCLASS, key_column TEXT, statement TEXT,
  batch_rows INT DEFAULT 1000, pause_seconds FLOAT8 DEFAULT 0.01)
LANGUAGE plpgsql AS $$
DECLARE
  key_type TEXT := (SELECT format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid = table_name AND attname = key_column);
  after_key TEXT;
  batch TEXT[];
BEGIN
  INSERT INTO backfills (name, started_at, changed_at) VALUES (backfill_name, svc_now(), svc_now())
    ON CONFLICT DO NOTHING;
  SELECT last_key INTO after_key FROM backfills WHERE name = backfill_name;
  COMMIT;
  LOOP
    EXECUTE format(
      'SELECT array_agg(k::text ORDER BY k) FROM (
         SELECT %1$I AS k FROM %2$s WHERE $1 IS NULL OR %1$I > $1::%3$s ORDER BY %1$I LIMIT $2) AS page',
      key_column, table_name, key_type) INTO batch USING after_key, batch_rows;
    EXIT WHEN batch IS NULL;
    EXECUTE statement USING batch;
    after_key := batch[cardinality(batch)];
    UPDATE backfills SET last_key = after_key, rows_done = rows_done + cardinality(batch),
      changed_at = svc_now() WHERE name = backfill_name;
    COMMIT;
    PERFORM pg_sleep(pause_seconds);
  END LOOP;
  UPDATE backfills SET finished_at = svc_now(), changed_at = svc_now() WHERE name = backfill_name;
  COMMIT;
END $$;
