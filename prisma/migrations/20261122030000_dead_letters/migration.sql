-- What a reconciler failed at, row by row: when it tries again, and why it failed. A reconciler
-- removes an entry when the row is reconciled or needs it no longer. The code bounds the number.
CREATE TABLE "reconcile_failures" (
    "reconciler" TEXT NOT NULL,
    "subject_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "failures" INTEGER NOT NULL,
    "first_failed_at" TIMESTAMPTZ(3) NOT NULL,
    "last_failed_at" TIMESTAMPTZ(3) NOT NULL,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "error" TEXT NOT NULL,

    CONSTRAINT "reconcile_failures_pkey" PRIMARY KEY ("reconciler", "subject_id")
);
ALTER TABLE "reconcile_failures"
  ADD CONSTRAINT "reconcile_failures_reconciler" CHECK (reconciler IN ('settlement', 'webhook', 'purge')),
  ADD CONSTRAINT "reconcile_failures_figures" CHECK (failures > 0 AND length(error) <= 500);
