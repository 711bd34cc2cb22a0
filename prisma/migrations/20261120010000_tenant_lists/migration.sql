-- The tenants' lists: each of them, with each of its filters, reads no more rows than it shows.

-- When a tenant last had a test event sent: one a minute.
ALTER TABLE "tenants" ADD COLUMN "webhook_tested_at" TIMESTAMPTZ(3);

-- What a tenant lists, newest first; rejected creations are not for it to see.
DROP INDEX "submissions_tenant_id_created_at_id_idx";
CREATE INDEX "submissions_listed_idx" ON "submissions" (tenant_id, created_at, id)
  WHERE state <> 'rejected';

-- By status: few are under way at a time, and few fail. Those that were submitted are what the
-- index above is full of.
CREATE INDEX "submissions_under_way_idx" ON "submissions" (tenant_id, created_at, id)
  WHERE state IN ('pending', 'dispatched', 'running', 'settling');
CREATE INDEX "submissions_uncharged_idx" ON "submissions" (tenant_id, state, created_at, id)
  WHERE state IN ('failed', 'cancelled');

-- The statement by type: these are rare among holds, charges and releases.
CREATE INDEX "ledger_entries_operators_idx" ON "ledger_entries" (tenant_id, sequence)
  WHERE type IN ('grant', 'rebate', 'reversal');

-- By status, and what clearing a URL drops.
CREATE INDEX "deliveries_undelivered_idx" ON "deliveries" (tenant_id, status, id)
  WHERE status <> 'delivered';
