-- Since when services seal for whole places (tenant and kind too), in a database that a version before
-- this one has sealed for rows only. Null: not yet, because services of that version cannot open such
-- values; or nothing was ever sealed that way.
ALTER TABLE "environment" ADD COLUMN "reseal_started_at" TIMESTAMPTZ(3);
