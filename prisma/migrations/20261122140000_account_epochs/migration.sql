-- The number of changes of what a gateway caches of a tenant: its secrets, its limits, its job types,
-- whether it is disabled, and its rate card. A hold compares it while it has the account locked, so
-- that no hold is placed with credentials that have changed.
ALTER TABLE "credit_accounts" ADD COLUMN "epoch" BIGINT NOT NULL DEFAULT 0;

CREATE FUNCTION svc_bump_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  written jsonb := to_jsonb(COALESCE(NEW, OLD));
  changed uuid := CASE TG_TABLE_NAME WHEN 'tenants' THEN written->>'id' ELSE written->>'tenant_id' END;
BEGIN
  IF changed IS NULL THEN
    -- The default rate card may be in force for every tenant. Accounts are locked in the order of
    -- their ids, as holds and endings lock them.
    PERFORM FROM credit_accounts ORDER BY tenant_id FOR UPDATE;
    UPDATE credit_accounts SET epoch = epoch + 1;
  ELSE
    UPDATE credit_accounts SET epoch = epoch + 1 WHERE tenant_id = changed;
  END IF;
  RETURN COALESCE(NEW, OLD);
END $$;

-- Accounts are locked before tenants and their secrets. An INSERT locks nothing before its trigger. An
-- UPDATE has locked its row by then, so its transaction must lock the account before.
CREATE TRIGGER "tenants_epoch"
  BEFORE UPDATE OF "disabled_at", "allowed_job_types", "rate_limit_per_second", "rate_limit_burst" ON "tenants"
  FOR EACH ROW WHEN (
    (OLD.disabled_at, OLD.allowed_job_types, OLD.rate_limit_per_second, OLD.rate_limit_burst)
    IS DISTINCT FROM
    (NEW.disabled_at, NEW.allowed_job_types, NEW.rate_limit_per_second, NEW.rate_limit_burst))
  EXECUTE FUNCTION svc_bump_epoch();
CREATE TRIGGER "tenant_secrets_epoch" BEFORE INSERT OR DELETE OR UPDATE OF "tenant_id", "kind", "expires_at" ON "tenant_secrets"
  FOR EACH ROW EXECUTE FUNCTION svc_bump_epoch();
CREATE TRIGGER "rate_cards_epoch" BEFORE INSERT ON "rate_cards"
  FOR EACH ROW EXECUTE FUNCTION svc_bump_epoch();
