-- What the ledger audit has verified of each account, sealed under the master key. The next pass
-- continues from there.
CREATE TABLE "ledger_checkpoints" (
    "tenant_id" UUID NOT NULL,
    "sealed" BYTEA NOT NULL,

    CONSTRAINT "ledger_checkpoints_pkey" PRIMARY KEY ("tenant_id")
);

-- The lease of the one process that audits, and the sealed state of the audit.
CREATE TABLE "ledger_audit" (
    "id" SMALLINT NOT NULL,
    "epoch" BIGINT NOT NULL,
    "step" BIGINT NOT NULL,
    "holder" TEXT,
    "lease_expires_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "state_sealed" BYTEA,
    "failed_at" TIMESTAMPTZ(3),
    "error" TEXT,

    CONSTRAINT "ledger_audit_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "ledger_audit"
  ADD CONSTRAINT "ledger_audit_one_row" CHECK (id = 1),
  ADD CONSTRAINT "ledger_audit_error" CHECK ((failed_at IS NULL) = (error IS NULL));

INSERT INTO "ledger_audit" (id, epoch, step, lease_expires_at, due_at) VALUES (1, 0, 0, '-infinity', '-infinity');
