-- Part 1: the tables, as `prisma migrate diff` writes them from schema.prisma, but for the
-- partitioning and the fillfactor, which Prisma cannot say.

-- CreateTable
CREATE TABLE "environment" (
    "id" SMALLINT NOT NULL,
    "name" TEXT NOT NULL,
    "request_hash_key_sealed" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "environment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tenants" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "allowed_job_types" TEXT[],
    "webhook_url" TEXT,
    "webhook_disabled_at" TIMESTAMPTZ(3),
    "webhook_disabled_reason" TEXT,
    "rate_limit_per_second" INTEGER NOT NULL DEFAULT 100,
    "rate_limit_burst" INTEGER NOT NULL DEFAULT 200,
    "rebate_millionths" INTEGER NOT NULL DEFAULT 0,
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tenant_secrets" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "tenant_secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "operators" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "secret_sealed" BYTEA NOT NULL,
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "operators_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "nodes" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "secret_sealed" BYTEA NOT NULL,
    "draining" BOOLEAN NOT NULL DEFAULT false,
    "agent_version" TEXT,
    "last_seen_at" TIMESTAMPTZ(3),
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "nodes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_log" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "actor_kind" TEXT NOT NULL,
    "actor_id" UUID,
    "action" TEXT NOT NULL,
    "subject_kind" TEXT NOT NULL,
    "subject_id" TEXT,
    "before" JSONB,
    "after" JSONB,
    "request_id" TEXT,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "credit_accounts" (
    "tenant_id" UUID NOT NULL,
    "balance_micros" BIGINT NOT NULL DEFAULT 0,
    "held_micros" BIGINT NOT NULL DEFAULT 0,
    "rebate_accrued_micros" BIGINT NOT NULL DEFAULT 0,
    "low_balance_threshold_micros" BIGINT NOT NULL DEFAULT 1000000000,

    CONSTRAINT "credit_accounts_pkey" PRIMARY KEY ("tenant_id")
) WITH (fillfactor = 50);

-- CreateTable
CREATE TABLE "ledger_entries" (
    "id" UUID NOT NULL,
    "sequence" BIGSERIAL NOT NULL,
    "tenant_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "debit_account" TEXT NOT NULL,
    "credit_account" TEXT NOT NULL,
    "amount_micros" BIGINT NOT NULL,
    "balance_after_micros" BIGINT NOT NULL,
    "held_after_micros" BIGINT NOT NULL,
    "submission_id" UUID,
    "purchase_id" UUID,
    "reference" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_entries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rate_cards" (
    "version" SERIAL NOT NULL,
    "tenant_id" UUID,
    "card" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rate_cards_pkey" PRIMARY KEY ("version")
);

-- CreateTable
CREATE TABLE "job_type_usage" (
    "job_type" TEXT NOT NULL,
    "settled_count" BIGINT NOT NULL DEFAULT 0,
    "node_seconds" DECIMAL NOT NULL DEFAULT 0,
    "cpu_seconds" DECIMAL NOT NULL DEFAULT 0,
    "memory_gb_seconds" DECIMAL NOT NULL DEFAULT 0,
    "bandwidth_mb" DECIMAL NOT NULL DEFAULT 0,
    "actions" DECIMAL NOT NULL DEFAULT 0,

    CONSTRAINT "job_type_usage_pkey" PRIMARY KEY ("job_type")
);

-- CreateTable
CREATE TABLE "submissions" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "request_id" TEXT NOT NULL,
    "job_type" TEXT NOT NULL,
    "tier" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "payload_sealed" BYTEA,
    "quote_estimated_micros" BIGINT NOT NULL,
    "quote_max_micros" BIGINT NOT NULL,
    "surge_micros" BIGINT NOT NULL,
    "rate_card_version" INTEGER NOT NULL,
    "available_after_micros" BIGINT NOT NULL,
    "node_id" UUID,
    "dispatch_deadline_at" TIMESTAMPTZ(3) NOT NULL,
    "start_deadline_at" TIMESTAMPTZ(3),
    "lease_expires_at" TIMESTAMPTZ(3),
    "run_deadline_at" TIMESTAMPTZ(3),
    "usage_node_seconds" DECIMAL,
    "usage_cpu_seconds" DECIMAL,
    "usage_memory_gb_seconds" DECIMAL,
    "usage_bandwidth_mb" DECIMAL,
    "usage_actions" DECIMAL,
    "outcome_kind" TEXT,
    "outcome_by" TEXT,
    "outcome_at" TIMESTAMPTZ(3),
    "failure_code" TEXT,
    "outcome_sealed" BYTEA,
    "charged_micros" BIGINT,
    "cancelled_by" TEXT,
    "late_outcome_status" TEXT,
    "late_outcome_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "dispatched_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "submissions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "usage_reports" (
    "submission_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "node_seconds" DECIMAL,
    "cpu_seconds" DECIMAL,
    "memory_gb_seconds" DECIMAL,
    "bandwidth_mb" DECIMAL,
    "actions" DECIMAL,

    CONSTRAINT "usage_reports_pkey" PRIMARY KEY ("submission_id","at")
) PARTITION BY RANGE ("submission_id");

-- CreateTable
CREATE TABLE "events" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "submission_id" UUID,
    "body_sealed" BYTEA NOT NULL,
    "request_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deliveries" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "round" INTEGER NOT NULL DEFAULT 1,
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");

-- CreateTable
CREATE TABLE "delivery_attempts" (
    "delivery_id" UUID NOT NULL,
    "round" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "recorded_at" TIMESTAMPTZ(3),
    "status_code" INTEGER,
    "duration_ms" INTEGER,
    "error" TEXT,
    "response" TEXT,

    CONSTRAINT "delivery_attempts_pkey" PRIMARY KEY ("delivery_id","round","number")
) PARTITION BY RANGE ("delivery_id");

-- CreateTable
CREATE TABLE "purchases" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "reference" TEXT NOT NULL,
    "credits_micros" BIGINT NOT NULL,
    "usd_micros" BIGINT,
    "note" TEXT,
    "operator_id" UUID,
    "available_after_micros" BIGINT NOT NULL,
    "reversed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "purchases_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "purchase_intents" (
    "reference" TEXT NOT NULL,
    "tenant_id" UUID NOT NULL,
    "credits_micros" BIGINT NOT NULL,
    "amount_usdc_micros" BIGINT NOT NULL,
    "status" TEXT NOT NULL,
    "transaction_signature" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),

    CONSTRAINT "purchase_intents_pkey" PRIMARY KEY ("reference")
);

-- CreateIndex
CREATE INDEX "tenant_secrets_tenant_id_kind_idx" ON "tenant_secrets"("tenant_id", "kind");

-- CreateIndex
CREATE UNIQUE INDEX "operators_name_key" ON "operators"("name");

-- CreateIndex
CREATE INDEX "audit_log_subject_kind_subject_id_id_idx" ON "audit_log"("subject_kind", "subject_id", "id");

-- CreateIndex
CREATE INDEX "ledger_entries_tenant_id_sequence_idx" ON "ledger_entries"("tenant_id", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_entries_submission_id_type_key" ON "ledger_entries"("submission_id", "type");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_entries_purchase_id_type_key" ON "ledger_entries"("purchase_id", "type");

-- CreateIndex
CREATE INDEX "rate_cards_tenant_id_version_idx" ON "rate_cards"("tenant_id", "version");

-- CreateIndex
CREATE INDEX "submissions_tenant_id_created_at_id_idx" ON "submissions"("tenant_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "events_submission_id_idx" ON "events"("submission_id");

-- CreateIndex
CREATE INDEX "deliveries_tenant_id_id_idx" ON "deliveries"("tenant_id", "id");

-- CreateIndex
CREATE INDEX "deliveries_event_id_idx" ON "deliveries"("event_id");

-- CreateIndex
CREATE UNIQUE INDEX "purchases_reference_key" ON "purchases"("reference");

-- CreateIndex
CREATE INDEX "purchases_tenant_id_idx" ON "purchases"("tenant_id");

-- CreateIndex
CREATE UNIQUE INDEX "purchase_intents_transaction_signature_key" ON "purchase_intents"("transaction_signature");

-- CreateIndex
CREATE INDEX "purchase_intents_tenant_id_idx" ON "purchase_intents"("tenant_id");

-- AddForeignKey
ALTER TABLE "tenant_secrets" ADD CONSTRAINT "tenant_secrets_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "credit_accounts" ADD CONSTRAINT "credit_accounts_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rate_cards" ADD CONSTRAINT "rate_cards_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "purchases" ADD CONSTRAINT "purchases_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "purchase_intents" ADD CONSTRAINT "purchase_intents_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Part 2: what Prisma cannot say.

-- Time is the database's: the one clock that leases, deadlines and metering go by. Whole
-- milliseconds, as on the wire. Tests replace this function to move time.
CREATE FUNCTION svc_now() RETURNS timestamptz
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN date_trunc('milliseconds', statement_timestamp());

-- The guards: what the code decides is refused a second time here.

ALTER TABLE "environment"
  ADD CONSTRAINT "environment_one_row" CHECK (id = 1),
  ADD CONSTRAINT "environment_name" CHECK (name IN ('sandbox', 'production'));

ALTER TABLE "tenants"
  ADD CONSTRAINT "tenants_name_length" CHECK (char_length(name) BETWEEN 1 AND 128),
  ADD CONSTRAINT "tenants_rate_limit" CHECK (rate_limit_per_second > 0 AND rate_limit_burst > 0),
  ADD CONSTRAINT "tenants_rebate" CHECK (rebate_millionths BETWEEN 0 AND 1000000),
  ADD CONSTRAINT "tenants_webhook_disabled" CHECK ((webhook_disabled_at IS NULL) = (webhook_disabled_reason IS NULL));

ALTER TABLE "tenant_secrets"
  ADD CONSTRAINT "tenant_secrets_kind" CHECK (kind IN ('hmac', 'webhook'));

-- Below 10^15 micro-credits an amount is exact as a JSON number.
ALTER TABLE "credit_accounts"
  ADD CONSTRAINT "credit_accounts_no_overdraft" CHECK (held_micros >= 0 AND balance_micros >= held_micros),
  ADD CONSTRAINT "credit_accounts_bounds" CHECK (
    balance_micros < 1000000000000000 AND rebate_accrued_micros >= 0
    AND rebate_accrued_micros < 1000000000000000
    AND low_balance_threshold_micros BETWEEN 0 AND 999999999999999);

ALTER TABLE "ledger_entries"
  ADD CONSTRAINT "ledger_entries_amount" CHECK (amount_micros > 0),
  ADD CONSTRAINT "ledger_entries_figures" CHECK (held_after_micros >= 0 AND balance_after_micros >= held_after_micros),
  ADD CONSTRAINT "ledger_entries_movement" CHECK ((type, debit_account, credit_account) IN (
    ('grant', 'issuance', 'tenant_available'),
    ('hold', 'tenant_available', 'tenant_held'),
    ('charge', 'tenant_held', 'revenue'),
    ('release', 'tenant_held', 'tenant_available'),
    ('rebate_accrual', 'revenue', 'rebate'),
    ('rebate', 'rebate', 'tenant_available'),
    ('reversal', 'tenant_available', 'issuance'))),
  ADD CONSTRAINT "ledger_entries_subject" CHECK (
    (submission_id IS NOT NULL) = (type IN ('hold', 'charge', 'release', 'rebate_accrual')));

ALTER TABLE "purchases"
  ADD CONSTRAINT "purchases_amount" CHECK (credits_micros > 0 AND (usd_micros IS NULL OR usd_micros >= 0));

ALTER TABLE "submissions"
  ADD CONSTRAINT "submissions_state" CHECK (state IN (
    'pending', 'dispatched', 'running', 'settling', 'submitted', 'failed', 'cancelled', 'rejected')),
  ADD CONSTRAINT "submissions_tier" CHECK (tier IN ('standard', 'priority', 'instant')),
  ADD CONSTRAINT "submissions_key_length" CHECK (char_length(idempotency_key) BETWEEN 1 AND 128),
  ADD CONSTRAINT "submissions_quote" CHECK (quote_max_micros >= 0 AND quote_estimated_micros BETWEEN 0 AND quote_max_micros),
  ADD CONSTRAINT "submissions_charge_within_hold" CHECK (charged_micros BETWEEN 0 AND quote_max_micros),
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
  ADD CONSTRAINT "submissions_completed_was_begun" CHECK (outcome_kind IS DISTINCT FROM 'completed' OR started_at IS NOT NULL),
  ADD CONSTRAINT "submissions_cancelled_by" CHECK (
    (cancelled_by IS NOT NULL) = (state = 'cancelled') AND (cancelled_by IS NULL OR cancelled_by IN ('tenant', 'operator'))),
  ADD CONSTRAINT "submissions_late_outcome" CHECK (
    (late_outcome_status IS NULL) = (late_outcome_at IS NULL)
    AND (late_outcome_status IS NULL OR late_outcome_status IN ('submitted', 'failed')));

ALTER TABLE "deliveries"
  ADD CONSTRAINT "deliveries_status" CHECK (status IN ('pending', 'delivered', 'exhausted', 'dropped')),
  ADD CONSTRAINT "deliveries_attempts" CHECK (attempt_count BETWEEN 0 AND 8 AND round >= 1),
  ADD CONSTRAINT "deliveries_due_while_pending" CHECK ((next_attempt_at IS NOT NULL) = (status = 'pending'));

ALTER TABLE "delivery_attempts"
  ADD CONSTRAINT "delivery_attempts_number" CHECK (number BETWEEN 1 AND 8 AND round >= 1);

ALTER TABLE "purchase_intents"
  ADD CONSTRAINT "purchase_intents_status" CHECK (status IN ('pending', 'confirmed', 'expired', 'failed')),
  ADD CONSTRAINT "purchase_intents_amount" CHECK (credits_micros > 0 AND amount_usdc_micros > 0);

-- A key is used up only by a creation that did not end in an error.
CREATE UNIQUE INDEX "submissions_tenant_id_idempotency_key_key"
  ON "submissions" (tenant_id, idempotency_key) WHERE state <> 'rejected';

-- The moment at which the service must act on a submission by itself, whatever its state.
CREATE FUNCTION svc_due_at(
  state text, dispatch_deadline_at timestamptz, start_deadline_at timestamptz,
  lease_expires_at timestamptz, run_deadline_at timestamptz, outcome_at timestamptz
) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE state
    WHEN 'pending' THEN dispatch_deadline_at
    WHEN 'dispatched' THEN LEAST(start_deadline_at, run_deadline_at)
    WHEN 'running' THEN LEAST(lease_expires_at, run_deadline_at)
    WHEN 'settling' THEN outcome_at
  END;

CREATE INDEX "submissions_due_idx" ON "submissions"
  (svc_due_at(state, dispatch_deadline_at, start_deadline_at, lease_expires_at, run_deadline_at, outcome_at))
  WHERE state IN ('pending', 'dispatched', 'running', 'settling');

CREATE INDEX "submissions_assigned_idx" ON "submissions" (node_id)
  WHERE state IN ('dispatched', 'running', 'settling');

CREATE INDEX "deliveries_due_idx" ON "deliveries" (next_attempt_at) WHERE status = 'pending';

-- Append-only means append-only.
CREATE FUNCTION svc_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER "ledger_entries_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_entries"
  FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER "audit_log_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_log"
  FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
CREATE TRIGGER "rate_cards_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "rate_cards"
  FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();

-- Partitions by month. An id is a UUIDv7, which begins with its time, so that a table is cut by
-- ranges of ids: a look-up by id reaches one partition, and a month is dropped without a vacuum.

CREATE FUNCTION svc_uuid_floor(at timestamptz) RETURNS uuid
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- Creates what is missing from last month to three months ahead; does nothing where all is there.
CREATE FUNCTION svc_ensure_partitions() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  month timestamptz;
  partition text;
  created integer := 0;
BEGIN
  FOREACH parent IN ARRAY ARRAY['usage_reports', 'deliveries', 'delivery_attempts'] LOOP
    FOR month IN
      SELECT date_trunc('month', svc_now(), 'UTC') + make_interval(months => n) FROM generate_series(-1, 3) AS n
    LOOP
      partition := parent || '_' || to_char(month AT TIME ZONE 'UTC', 'YYYY_MM');
      CONTINUE WHEN EXISTS (SELECT FROM pg_class WHERE relname = partition AND relnamespace = current_schema()::regnamespace);
      -- Two services at once: the second waits, and finds it there. It looks with a query, because
      -- to_regclass may still answer from what this session knew before it waited.
      PERFORM pg_advisory_xact_lock(hashtext('svc_ensure_partitions'));
      CONTINUE WHEN EXISTS (SELECT FROM pg_class WHERE relname = partition AND relnamespace = current_schema()::regnamespace);
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
        partition, parent, svc_uuid_floor(month), svc_uuid_floor(month + interval '1 month'));
      created := created + 1;
    END LOOP;
  END LOOP;
  RETURN created;
END $$;

-- Whatever falls outside (a host whose clock is far off) is kept too.
CREATE TABLE "usage_reports_default" PARTITION OF "usage_reports" DEFAULT;
CREATE TABLE "deliveries_default" PARTITION OF "deliveries" DEFAULT;
CREATE TABLE "delivery_attempts_default" PARTITION OF "delivery_attempts" DEFAULT;

DO $$ BEGIN PERFORM svc_ensure_partitions(); END $$;
