-- What operators look at, over all tenants.

-- Submissions by how they ended: those that were submitted are what the table is full of, those
-- under way are few and have an index of their own.
CREATE INDEX "submissions_ended_otherwise_idx" ON "submissions" (state, id)
  WHERE state IN ('failed', 'cancelled', 'rejected');

-- What the auditor of the ledger found last. One row.
CREATE TABLE "ledger_verdict" (
    "id" SMALLINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "tenants" INTEGER NOT NULL,
    "submissions" INTEGER NOT NULL,
    "faults" INTEGER NOT NULL,

    CONSTRAINT "ledger_verdict_pkey" PRIMARY KEY ("id")
);

ALTER TABLE "ledger_verdict" ADD CONSTRAINT "ledger_verdict_one_row" CHECK (id = 1);
