-- Webhook endpoints of a tenant, in addition to the URL of its settings.

-- CreateTable
CREATE TABLE "webhook_endpoints" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "url" TEXT,
    "events" TEXT[],
    "description" TEXT,
    "secret_sealed" BYTEA NOT NULL,
    "secret_version" INTEGER NOT NULL DEFAULT 1,
    "previous_secret_sealed" BYTEA,
    "previous_secret_expires_at" TIMESTAMPTZ(3),
    "disabled_at" TIMESTAMPTZ(3),
    "disabled_reason" TEXT,
    "tested_at" TIMESTAMPTZ(3),
    "retired_at" TIMESTAMPTZ(3),
    "last_position" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "webhook_endpoints_tenant_id_idx" ON "webhook_endpoints"("tenant_id");
CREATE INDEX "webhook_endpoints_poll_idx" ON "webhook_endpoints" ("id") WHERE kind = 'poll';
CREATE INDEX "webhook_endpoints_retired_idx" ON "webhook_endpoints" ("id") WHERE retired_at IS NOT NULL;
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "webhook_endpoints"
  ADD CONSTRAINT "webhook_endpoints_kind" CHECK (kind IN ('push', 'poll') AND (url IS NOT NULL) = (kind = 'push')),
  ADD CONSTRAINT "webhook_endpoints_texts" CHECK (
    length(url) BETWEEN 1 AND 2048 AND length(description) <= 256 AND array_position(events, NULL) IS NULL
    AND (events IS NULL OR cardinality(events) BETWEEN 1 AND 50)),
  ADD CONSTRAINT "webhook_endpoints_secrets" CHECK (
    secret_version >= 1 AND (previous_secret_sealed IS NULL) = (previous_secret_expires_at IS NULL)),
  ADD CONSTRAINT "webhook_endpoints_disabled" CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
  ADD CONSTRAINT "webhook_endpoints_position" CHECK (last_position >= 0);

-- The number of endpoints that are not retired. A tenant without endpoints is found by it, so that its
-- events read no other table.
ALTER TABLE "tenants" ADD COLUMN "webhook_endpoint_count" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "tenants" ADD CONSTRAINT "tenants_webhook_endpoint_count" CHECK (webhook_endpoint_count BETWEEN 0 AND 5);

CREATE FUNCTION svc_count_webhook_endpoints() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added int := CASE WHEN TG_OP <> 'DELETE' AND NEW.retired_at IS NULL THEN 1 ELSE 0 END;
  removed int := CASE WHEN TG_OP <> 'INSERT' AND OLD.retired_at IS NULL THEN 1 ELSE 0 END;
BEGIN
  IF added <> removed THEN
    UPDATE tenants SET webhook_endpoint_count = webhook_endpoint_count + added - removed
    WHERE id = CASE TG_OP WHEN 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "webhook_endpoints_count" AFTER INSERT OR DELETE OR UPDATE OF "retired_at" ON "webhook_endpoints"
  FOR EACH ROW EXECUTE FUNCTION svc_count_webhook_endpoints();

-- A delivery to an endpoint has a status that a deliverer of the previous version does not look for: that
-- version would send it to the URL of the settings. The wire shows both as `pending`.
--   queued: due at an endpoint with a URL. waiting: can be read at an endpoint without a URL.
-- endpoint_id is what the tenant sees, and null for the URL of the settings. target_id is the row that has
-- the URL and the secrets. The two differ when a former URL is notified of the change.
ALTER TABLE "deliveries"
  ADD COLUMN "endpoint_id" UUID,
  ADD COLUMN "target_id" UUID,
  ADD COLUMN "position" BIGINT;
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_status", DROP CONSTRAINT "deliveries_due_while_pending";
ALTER TABLE "deliveries"
  ADD CONSTRAINT "deliveries_status" CHECK (status IN ('pending', 'delivered', 'exhausted', 'dropped', 'queued', 'waiting')),
  ADD CONSTRAINT "deliveries_due_while_pending" CHECK ((next_attempt_at IS NOT NULL) = (status IN ('pending', 'queued'))),
  ADD CONSTRAINT "deliveries_target" CHECK (
    (endpoint_id IS NULL OR target_id IS NOT NULL)
    AND CASE status WHEN 'pending' THEN target_id IS NULL WHEN 'queued' THEN target_id IS NOT NULL
      WHEN 'waiting' THEN target_id IS NOT NULL AND position IS NOT NULL ELSE true END);
CREATE INDEX "deliveries_queued_idx" ON "deliveries" (target_id, due_at) WHERE status = 'queued';
CREATE INDEX "deliveries_queued_round_idx" ON "deliveries" (round_started_at) WHERE status = 'queued';
CREATE INDEX "deliveries_waiting_idx" ON "deliveries" (target_id, position) WHERE status = 'waiting';

-- Positions follow the order of commits, because the endpoint's row stays locked until the commit. Ids do
-- not: a reader that continues after an id could miss a delivery that was committed later.
CREATE FUNCTION svc_number_waiting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE webhook_endpoints SET last_position = last_position + 1
  WHERE id = NEW.target_id AND kind = 'poll' RETURNING last_position INTO NEW.position;
  RETURN NEW;
END $$;
CREATE TRIGGER "deliveries_number_waiting" BEFORE INSERT ON "deliveries"
  FOR EACH ROW WHEN (NEW.status = 'waiting') EXECUTE FUNCTION svc_number_waiting();
