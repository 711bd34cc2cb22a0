-- Webhooks are claimed endpoint by endpoint, so that no tenant's backlog is in another one's way.

-- A round of attempts ends after 72 hours, however often its attempts were put off.
ALTER TABLE "deliveries" ADD COLUMN "round_started_at" TIMESTAMPTZ(3);
UPDATE "deliveries" SET "round_started_at" = "created_at";
ALTER TABLE "deliveries" ALTER COLUMN "round_started_at" SET NOT NULL;
CREATE INDEX "deliveries_round_idx" ON "deliveries" (round_started_at) WHERE status = 'pending';

-- What is due, tenant by tenant.
DROP INDEX "deliveries_due_idx";
CREATE INDEX "deliveries_due_idx" ON "deliveries" (tenant_id, next_attempt_at) WHERE status = 'pending';

-- Tenants that may cause only so many attempts in an hour of the clock: who signed up by itself
-- must not make the service hammer a third party. A tenant without a row has no such limit.
CREATE TABLE "webhook_caps" (
    "tenant_id" UUID NOT NULL,
    "attempts_per_hour" INTEGER NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "webhook_caps_pkey" PRIMARY KEY ("tenant_id")
);
ALTER TABLE "webhook_caps" ADD CONSTRAINT "webhook_caps_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "webhook_caps"
  ADD CONSTRAINT "webhook_caps_figures" CHECK (attempts_per_hour > 0 AND attempts >= 0);
