-- The scopes, addresses and expiry of a key, sealed for its row. Services of the previous version leave it null, and the
-- next version fills it.
ALTER TABLE "tenant_secrets" ADD COLUMN "limits_sealed" BYTEA;

-- No statement takes the seal away. Without a seal, a key's limits can only become narrower.
CREATE FUNCTION svc_keep_sealed_limits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.limits_sealed IS NOT NULL
    OR (NEW.id, NEW.tenant_id, NEW.kind) IS DISTINCT FROM (OLD.id, OLD.tenant_id, OLD.kind)
    OR NEW.scopes IS DISTINCT FROM OLD.scopes OR NEW.addresses IS DISTINCT FROM OLD.addresses
    OR COALESCE(NEW.expires_at, 'infinity') > COALESCE(OLD.expires_at, 'infinity')
  THEN
    RAISE EXCEPTION 'tenant_secrets_sealed_limits: the limits of a key are sealed' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "tenant_secrets_sealed_limits" BEFORE UPDATE ON "tenant_secrets"
  FOR EACH ROW WHEN (OLD.kind <> 'webhook' AND NEW.limits_sealed IS NULL) EXECUTE FUNCTION svc_keep_sealed_limits();

-- A row without a seal can only be a key that a service of the previous version creates now. The secret of a key opens
-- under the id of its row alone, and the first 48 bits of that id are the time of its creation. So no older key comes back
-- without its seal.
CREATE FUNCTION svc_refuse_unsealed_copy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_timestamp(('x' || left(replace(NEW.id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
    < svc_now() - interval '10 minutes'
  THEN
    RAISE EXCEPTION 'tenant_secrets_sealed_limits: the limits of a key are sealed' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "tenant_secrets_unsealed_copy" AFTER INSERT ON "tenant_secrets"
  FOR EACH ROW WHEN (NEW.kind <> 'webhook' AND NEW.limits_sealed IS NULL AND substr(NEW.id::text, 15, 1) = '7')
  EXECUTE FUNCTION svc_refuse_unsealed_copy();
