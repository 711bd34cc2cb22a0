-- Named keys of a tenant. They are rows of their own kind, because a gateway of the previous version
-- accepts every secret of kind 'hmac' without a scope.
ALTER TABLE "tenant_secrets"
  ADD COLUMN "scopes" TEXT[],
  ADD COLUMN "addresses" TEXT[],
  ADD COLUMN "last_used_at" TIMESTAMPTZ(3);

ALTER TABLE "tenant_secrets" DROP CONSTRAINT "tenant_secrets_kind";
ALTER TABLE "tenant_secrets"
  ADD CONSTRAINT "tenant_secrets_kind" CHECK (kind IN ('hmac', 'webhook', 'key')),
  ADD CONSTRAINT "tenant_secrets_scopes" CHECK (CASE WHEN kind = 'key'
    THEN scopes IS NOT NULL AND cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'spend', 'settings']
    ELSE scopes IS NULL END),
  ADD CONSTRAINT "tenant_secrets_addresses" CHECK (CASE WHEN kind = 'key'
    THEN addresses IS NOT NULL AND cardinality(addresses) <= 20 AND array_position(addresses, NULL) IS NULL
    ELSE addresses IS NULL END);

-- A gateway caches scopes and addresses too. The time of the last use does not change the epoch.
DROP TRIGGER "tenant_secrets_epoch" ON "tenant_secrets";
CREATE TRIGGER "tenant_secrets_epoch"
  BEFORE INSERT OR DELETE OR UPDATE OF "tenant_id", "kind", "expires_at", "scopes", "addresses" ON "tenant_secrets"
  FOR EACH ROW EXECUTE FUNCTION svc_bump_epoch();

-- Whether a row is a key that signs requests and is valid now.
CREATE FUNCTION svc_is_valid_key(key tenant_secrets) RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN (key).kind IN ('hmac', 'key') AND ((key).expires_at IS NULL OR (key).expires_at > svc_now());

-- A tenant keeps a key that may change its settings. The guard runs at the commit, because a rotation
-- ends one key before it adds another. The epoch's trigger has locked the account by then.
CREATE FUNCTION svc_keep_settings_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (OLD.kind = 'hmac' OR 'settings' = ANY(OLD.scopes)) AND svc_is_valid_key(OLD) AND NOT EXISTS (
    SELECT FROM tenant_secrets s
    WHERE s.tenant_id = OLD.tenant_id AND (s.kind = 'hmac' OR 'settings' = ANY(s.scopes)) AND svc_is_valid_key(s)
  ) THEN
    RAISE EXCEPTION 'tenant_secrets_last_key: a tenant keeps a key that may change its settings'
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "tenant_secrets_last_key"
  AFTER DELETE OR UPDATE OF "tenant_id", "kind", "expires_at", "scopes" ON "tenant_secrets"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION svc_keep_settings_key();

-- At most ten valid keys. A rotation may exceed the limit, because it replaces a key.
CREATE FUNCTION svc_limit_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT count(*) FROM tenant_secrets s WHERE s.tenant_id = NEW.tenant_id AND svc_is_valid_key(s)) > 10 THEN
    RAISE EXCEPTION 'tenant_secrets_key_limit: a tenant has at most 10 keys' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "tenant_secrets_key_limit" AFTER INSERT ON "tenant_secrets"
  FOR EACH ROW WHEN (NEW.kind = 'key') EXECUTE FUNCTION svc_limit_keys();

-- An entry of a tenant names the key that signed the request.
ALTER TABLE "audit_log" DROP CONSTRAINT "audit_log_actor";
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_actor" CHECK (
  actor_kind IN ('operator', 'tenant', 'local', 'signup')
  AND (actor_id IS NOT NULL) = (actor_kind IN ('operator', 'tenant'))
  AND (actor_kind = 'tenant' OR (actor_name IS NOT NULL) = (actor_kind = 'local')));
