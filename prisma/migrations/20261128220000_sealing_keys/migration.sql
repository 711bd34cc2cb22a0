-- The ids of the master keys under which processes have sealed values, never the keys. A rotation of the
-- master key deletes an id when nothing is sealed under it any more. A process without one of these keys is
-- not ready. Builds before this one do not write the table.
CREATE TABLE "sealing_keys" (
  "key_id" TEXT NOT NULL,
  "seen_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "sealing_keys_pkey" PRIMARY KEY ("key_id")
);
