-- What a node may claim. `slots_max` bounds the slots that it asks for.
ALTER TABLE "nodes"
  ADD COLUMN "slots_max" INTEGER NOT NULL DEFAULT 4,
-- Assignments that ended `not_started` or `node_lost`, and those that ended `node_error`, since the
-- node's last outcome of another kind; how often that led to a quarantine.
  ADD COLUMN "unfinished_count" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "error_count" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "quarantine_count" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "quarantined_until" TIMESTAMPTZ(3),
  ADD COLUMN "quarantine_reason" TEXT;

ALTER TABLE "nodes"
  ADD CONSTRAINT "nodes_slots_max" CHECK (slots_max BETWEEN 1 AND 200),
  ADD CONSTRAINT "nodes_endings" CHECK (unfinished_count >= 0 AND error_count >= 0 AND quarantine_count >= 0),
  ADD CONSTRAINT "nodes_quarantine" CHECK (
    (quarantined_until IS NULL) = (quarantine_reason IS NULL)
    AND (quarantine_reason IS NULL OR quarantine_reason IN ('unfinished', 'node_error')));

-- The node reported more of some unit than the time since `begin` allows, and it was cut.
ALTER TABLE "submissions" ADD COLUMN "usage_capped" BOOLEAN NOT NULL DEFAULT false;
