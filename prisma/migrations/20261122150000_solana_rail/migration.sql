-- The Solana rail. No intent exists yet: gateways without the rail created none.

ALTER TABLE "purchase_intents"
  ADD COLUMN "recipient" TEXT NOT NULL,
  ADD COLUMN "token_account" TEXT NOT NULL,
  ADD COLUMN "mint" TEXT NOT NULL,
  ADD COLUMN "usd_per_credit_micros" BIGINT NOT NULL,
  ADD COLUMN "paid_usdc_micros" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "grace_ends_at" TIMESTAMPTZ(3) NOT NULL,
  ADD COLUMN "ask_at" TIMESTAMPTZ(3) NOT NULL,
  ADD COLUMN "ask_again_at" TIMESTAMPTZ(3) NOT NULL,
  ADD COLUMN "asked_at" TIMESTAMPTZ(3),
  ADD COLUMN "asked_again_at" TIMESTAMPTZ(3),
  ADD COLUMN "closed_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "solana_payments" (
    "signature" TEXT NOT NULL,
    "token_account" TEXT NOT NULL,
    "mint" TEXT NOT NULL,
    "amount_usdc_micros" BIGINT NOT NULL,
    "slot" BIGINT NOT NULL,
    "block_time" TIMESTAMPTZ(3),
    "reference" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "solana_payments_pkey" PRIMARY KEY ("signature","token_account")
);

-- CreateTable
CREATE TABLE "solana_cursors" (
    "token_account" TEXT NOT NULL,
    "mint" TEXT NOT NULL,
    "signature" TEXT,
    "slot" BIGINT NOT NULL,
    "floor_slot" BIGINT NOT NULL,
    "listed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "solana_cursors_pkey" PRIMARY KEY ("token_account")
);

-- CreateTable
CREATE TABLE "solana_unread_signatures" (
    "token_account" TEXT NOT NULL,
    "signature" TEXT NOT NULL,
    "slot" BIGINT NOT NULL,
    "reference" TEXT,
    "attempts" INTEGER NOT NULL,
    "error" TEXT NOT NULL,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "solana_unread_signatures_pkey" PRIMARY KEY ("token_account","signature")
);

-- CreateTable
CREATE TABLE "solana_watcher" (
    "id" SMALLINT NOT NULL,
    "epoch" BIGINT NOT NULL,
    "holder" TEXT,
    "lease_expires_at" TIMESTAMPTZ(3) NOT NULL,
    "polled_at" TIMESTAMPTZ(3),
    "rpc_answered_at" TIMESTAMPTZ(3),
    "problem" TEXT,

    CONSTRAINT "solana_watcher_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "purchase_intents_created_at_idx" ON "purchase_intents"("created_at");

-- CreateIndex
CREATE INDEX "solana_payments_reference_idx" ON "solana_payments"("reference");

-- CreateIndex
CREATE INDEX "solana_unread_signatures_next_attempt_at_idx" ON "solana_unread_signatures"("next_attempt_at");

-- CreateIndex
CREATE INDEX "solana_unread_signatures_reference_idx" ON "solana_unread_signatures"("reference");

-- AddForeignKey
ALTER TABLE "solana_payments" ADD CONSTRAINT "solana_payments_reference_fkey" FOREIGN KEY ("reference") REFERENCES "purchase_intents"("reference") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- What Prisma cannot say.

-- One transaction pays one intent.
CREATE UNIQUE INDEX "solana_payments_signature_key" ON "solana_payments" (signature) WHERE reference IS NOT NULL;
CREATE INDEX "solana_payments_unexplained_idx" ON "solana_payments" (created_at) WHERE reference IS NULL;

-- An intent is open until it is closed: confirmed, or at the end of its grace.
CREATE INDEX "purchase_intents_open_idx" ON "purchase_intents" (token_account) WHERE closed_at IS NULL;
CREATE INDEX "purchase_intents_ask_idx" ON "purchase_intents" (ask_at) WHERE status = 'pending' AND asked_at IS NULL;
CREATE INDEX "purchase_intents_ask_again_idx" ON "purchase_intents" (ask_again_at) WHERE closed_at IS NULL AND asked_again_at IS NULL;
CREATE INDEX "purchase_intents_expiry_idx" ON "purchase_intents" (expires_at) WHERE status = 'pending';
CREATE INDEX "purchase_intents_grace_idx" ON "purchase_intents" (grace_ends_at) WHERE closed_at IS NULL;
CREATE INDEX "purchase_intents_pending_idx" ON "purchase_intents" (tenant_id, expires_at) WHERE status = 'pending';
CREATE INDEX "purchase_intents_overpaid_idx" ON "purchase_intents" (created_at)
  WHERE status = 'confirmed' AND paid_usdc_micros > amount_usdc_micros;

ALTER TABLE "purchase_intents"
  ADD CONSTRAINT "purchase_intents_limits" CHECK (
    amount_usdc_micros <= 1000000000000 AND usd_per_credit_micros > 0 AND paid_usdc_micros >= 0),
  ADD CONSTRAINT "purchase_intents_confirmed" CHECK (
    (status = 'confirmed') = (transaction_signature IS NOT NULL)
    AND (status = 'confirmed') = (confirmed_at IS NOT NULL)
    AND (status <> 'confirmed' OR paid_usdc_micros >= amount_usdc_micros)),
  ADD CONSTRAINT "purchase_intents_closed" CHECK (
    CASE status WHEN 'pending' THEN closed_at IS NULL WHEN 'expired' THEN true ELSE closed_at IS NOT NULL END),
  ADD CONSTRAINT "purchase_intents_failed_was_paid" CHECK (status <> 'failed' OR paid_usdc_micros > 0),
  ADD CONSTRAINT "purchase_intents_asked" CHECK (
    (status IN ('pending', 'confirmed') OR asked_at IS NOT NULL)
    AND (status = 'confirmed' OR closed_at IS NULL OR asked_again_at IS NOT NULL)),
  ADD CONSTRAINT "purchase_intents_times" CHECK (
    created_at < expires_at AND expires_at < grace_ends_at
    AND ask_at BETWEEN created_at AND expires_at AND ask_again_at BETWEEN expires_at AND grace_ends_at);

ALTER TABLE "solana_payments"
  ADD CONSTRAINT "solana_payments_amount" CHECK (amount_usdc_micros > 0 AND slot >= 0);

ALTER TABLE "solana_cursors"
  ADD CONSTRAINT "solana_cursors_slots" CHECK (floor_slot >= 0 AND slot >= floor_slot);

ALTER TABLE "solana_watcher"
  ADD CONSTRAINT "solana_watcher_one_row" CHECK (id = 1);

INSERT INTO "solana_watcher" (id, epoch, lease_expires_at) VALUES (1, 0, '-infinity');

-- Terms never change, payments are never taken back, and a final status stays.
CREATE FUNCTION svc_keep_intent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (OLD.reference, OLD.tenant_id, OLD.credits_micros, OLD.amount_usdc_micros, OLD.usd_per_credit_micros,
      OLD.recipient, OLD.token_account, OLD.mint, OLD.created_at, OLD.expires_at, OLD.grace_ends_at)
    IS DISTINCT FROM
     (NEW.reference, NEW.tenant_id, NEW.credits_micros, NEW.amount_usdc_micros, NEW.usd_per_credit_micros,
      NEW.recipient, NEW.token_account, NEW.mint, NEW.created_at, NEW.expires_at, NEW.grace_ends_at)
  THEN
    RAISE EXCEPTION 'the terms of a purchase intent never change' USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.paid_usdc_micros < OLD.paid_usdc_micros
    OR OLD.closed_at IS NOT NULL AND (OLD.status, OLD.transaction_signature, OLD.confirmed_at, OLD.closed_at)
      IS DISTINCT FROM (NEW.status, NEW.transaction_signature, NEW.confirmed_at, NEW.closed_at)
  THEN
    RAISE EXCEPTION 'a closed purchase intent keeps its end, and payments are not taken back'
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER "purchase_intents_kept" BEFORE UPDATE ON "purchase_intents"
  FOR EACH ROW EXECUTE FUNCTION svc_keep_intent();
CREATE TRIGGER "solana_payments_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "solana_payments"
  FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();
