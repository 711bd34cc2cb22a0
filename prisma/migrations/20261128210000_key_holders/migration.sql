-- Each process publishes the ids of the master keys that it holds, never the keys. A process without a
-- heartbeat for half a minute no longer counts. Builds before this one do not publish theirs.
CREATE TABLE "key_holders" (
  "id" UUID NOT NULL,
  "service" TEXT NOT NULL,
  "host" TEXT NOT NULL,
  "key_ids" TEXT[] NOT NULL,
  "seen_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "key_holders_pkey" PRIMARY KEY ("id")
);
