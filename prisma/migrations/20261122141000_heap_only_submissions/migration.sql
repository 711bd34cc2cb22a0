-- A submission changes about five times. Postgres writes such an update without a new entry in any
-- index (a heap-only update, HOT) if no column changes that an index names, also in its predicate. So
-- no index names a column that changes before a submission has ended without success.

-- `state` moves behind the payload, because the log has every byte between the first and the last one
-- that an update changes. The stored expression copies the values in one pass over the table.
ALTER TABLE "submissions" ADD COLUMN "state_moved" TEXT GENERATED ALWAYS AS (state) STORED;
ALTER TABLE "submissions" ALTER COLUMN "state_moved" DROP EXPRESSION;
-- Drops the indexes and the CHECKs that name it. They follow below.
ALTER TABLE "submissions" DROP COLUMN "state";
ALTER TABLE "submissions" RENAME COLUMN "state_moved" TO "state";

-- The state of a submission that ended without success, for indexes. Null while it is in flight and
-- after a success.
ALTER TABLE "submissions"
  ADD COLUMN "ended_otherwise" TEXT GENERATED ALWAYS AS (
    CASE WHEN state IN ('failed', 'cancelled', 'rejected') THEN state END) STORED,
  ADD COLUMN "rejected_id" UUID GENERATED ALWAYS AS (CASE WHEN state = 'rejected' THEN id END) STORED,
  ALTER COLUMN "state" SET NOT NULL,
  ADD CONSTRAINT "submissions_state" CHECK (state IN (
    'pending', 'dispatched', 'running', 'settling', 'submitted', 'failed', 'cancelled', 'rejected')),
  ADD CONSTRAINT "submissions_charged_when_ended" CHECK (
    (charged_micros IS NOT NULL) = (state IN ('submitted', 'failed', 'cancelled'))),
  ADD CONSTRAINT "submissions_finished_when_ended" CHECK (
    (finished_at IS NOT NULL) = (state IN ('submitted', 'failed', 'cancelled', 'rejected'))),
  ADD CONSTRAINT "submissions_assigned" CHECK (
    state IN ('pending', 'rejected', 'cancelled')
    OR (node_id IS NOT NULL AND dispatched_at IS NOT NULL AND start_deadline_at IS NOT NULL AND run_deadline_at IS NOT NULL)),
  ADD CONSTRAINT "submissions_unassigned" CHECK (state NOT IN ('pending', 'rejected') OR node_id IS NULL),
  ADD CONSTRAINT "submissions_begun" CHECK (state <> 'running' OR (started_at IS NOT NULL AND lease_expires_at IS NOT NULL)),
  ADD CONSTRAINT "submissions_outcome" CHECK (
    (outcome_kind IS NULL) = (outcome_at IS NULL)
    AND (outcome_kind IS NULL) = (outcome_by IS NULL)
    AND (outcome_kind IS NULL OR outcome_kind IN ('completed', 'failed'))
    AND (outcome_by IS NULL OR outcome_by IN ('node', 'service'))
    AND (failure_code IS NOT NULL) = (outcome_kind IS NOT DISTINCT FROM 'failed')
    AND (outcome_kind IS NOT NULL) = (state IN ('settling', 'submitted', 'failed'))),
  ADD CONSTRAINT "submissions_cancelled_by" CHECK (
    (cancelled_by IS NOT NULL) = (state = 'cancelled') AND (cancelled_by IS NULL OR cancelled_by IN ('tenant', 'operator')));

-- Room for the next version of each row on its page. Rows that are there already have ended, and stay
-- as dense as they are.
ALTER TABLE "submissions" SET (fillfactor = 40);

-- A key is used up only by a creation that was not rejected: those have null, which is one value here.
-- The index is not partial, so that services of the version before this one find keys by it too.
CREATE UNIQUE INDEX "submissions_tenant_id_idempotency_key_key"
  ON "submissions" (tenant_id, idempotency_key, rejected_id NULLS FIRST) NULLS NOT DISTINCT;
CREATE INDEX "submissions_listed_idx" ON "submissions" (tenant_id, created_at, id)
  WHERE ended_otherwise IS DISTINCT FROM 'rejected';
CREATE INDEX "submissions_uncharged_idx" ON "submissions" (tenant_id, ended_otherwise, created_at, id)
  WHERE ended_otherwise IN ('failed', 'cancelled');
CREATE INDEX "submissions_ended_otherwise_idx" ON "submissions" (ended_otherwise, id)
  WHERE ended_otherwise IS NOT NULL;

-- Every submission with a payload, oldest first. An entry comes with the hold and goes with the purge.
DROP INDEX "submissions_unpurged_idx";
CREATE INDEX "submissions_unpurged_idx" ON "submissions" (created_at, id) WHERE payload_sealed IS NOT NULL;

-- The submissions in flight, instead of indexes over their state, their node and their deadlines. Few
-- rows, and none is ever updated.
CREATE TABLE "submissions_in_flight" (
    "submission_id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,

    CONSTRAINT "submissions_in_flight_pkey" PRIMARY KEY ("submission_id")
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
INSERT INTO "submissions_in_flight" (submission_id, tenant_id)
SELECT id, tenant_id FROM "submissions" WHERE finished_at IS NULL;

-- Only this function writes the table, in the statement that writes the submission: no code can forget
-- a row, and services of the version before this one keep it complete too. `svc migrate` lets the
-- function run with the rights of the owner.
CREATE FUNCTION svc_track_in_flight() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO submissions_in_flight (submission_id, tenant_id)
    SELECT id, tenant_id FROM added WHERE finished_at IS NULL;
  ELSIF TG_OP = 'DELETE' OR NEW.finished_at IS NOT NULL THEN
    DELETE FROM submissions_in_flight WHERE submission_id = OLD.id;
  ELSE
    INSERT INTO submissions_in_flight (submission_id, tenant_id) VALUES (NEW.id, NEW.tenant_id);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER "submissions_held" AFTER INSERT ON "submissions"
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION svc_track_in_flight();
CREATE TRIGGER "submissions_ended" AFTER UPDATE OF "finished_at" ON "submissions"
  FOR EACH ROW WHEN ((OLD.finished_at IS NULL) <> (NEW.finished_at IS NULL))
  EXECUTE FUNCTION svc_track_in_flight();
CREATE TRIGGER "submissions_deleted" AFTER DELETE ON "submissions"
  FOR EACH ROW WHEN (OLD.finished_at IS NULL) EXECUTE FUNCTION svc_track_in_flight();
