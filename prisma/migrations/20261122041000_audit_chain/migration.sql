-- The audit log as a hash chain: each entry has a place in it, in the order of commits, and a hash
-- over its text and the hash before. A changed, removed or inserted entry breaks the chain.
CREATE TABLE "audit_chain" (
    "position" BIGINT NOT NULL,
    "entry_id" BIGINT NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "audit_chain_pkey" PRIMARY KEY ("position")
);
CREATE UNIQUE INDEX "audit_chain_entry_id_key" ON "audit_chain"("entry_id");

CREATE TRIGGER "audit_chain_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_chain"
  FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_change();

-- The end of the chain that settlement found last, sealed under the master key: a chain that was
-- written anew, or cut off before that place, does not agree with it.
CREATE TABLE "audit_head" (
    "id" SMALLINT NOT NULL,
    "position" BIGINT NOT NULL,
    "head_sealed" BYTEA NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_head_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "audit_head" ADD CONSTRAINT "audit_head_one_row" CHECK (id = 1);

-- What is hashed of an entry. `svc audit verify` has the same expression of its own, so that it does
-- not depend on this function.
CREATE FUNCTION svc_audit_text(entry audit_log) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN jsonb_build_array((entry).id, (extract(epoch FROM (entry).at) * 1000)::bigint, (entry).actor_kind,
    (entry).actor_id, (entry).actor_name, (entry).action, (entry).subject_kind, (entry).subject_id,
    (entry).before, (entry).after, (entry).request_id)::text;

-- Runs at the commit, so that the lock on the end of the chain is held for a moment only and no
-- transaction waits for it while it holds locks that others want. `svc migrate` lets it run with the
-- rights of the owner: the services' role cannot write into the chain itself.
CREATE FUNCTION svc_chain_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last audit_chain;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('svc_chain_audit'));
  SELECT * INTO last FROM audit_chain ORDER BY position DESC LIMIT 1;
  INSERT INTO audit_chain (position, entry_id, hash)
  VALUES (COALESCE(last.position, 0) + 1, NEW.id,
    sha256(COALESCE(last.hash, ''::bytea) || convert_to(svc_audit_text(NEW), 'UTF8')));
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER "audit_log_chained" AFTER INSERT ON "audit_log"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION svc_chain_audit();

-- What is there already. Nobody else writes: the trigger has locked the log.
DO $$
DECLARE
  entry audit_log;
  place bigint := 0;
  last bytea := ''::bytea;
BEGIN
  FOR entry IN SELECT * FROM audit_log ORDER BY id LOOP
    place := place + 1;
    last := sha256(last || convert_to(svc_audit_text(entry), 'UTF8'));
    INSERT INTO audit_chain (position, entry_id, hash) VALUES (place, entry.id, last);
  END LOOP;
END $$;
