-- The audit log names everybody who changes something: an operator or a tenant by its id, an
-- account on the machine by its name, a signup by nothing, as nobody is known before it.

ALTER TABLE "audit_log" ADD COLUMN "actor_name" TEXT;

ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_actor" CHECK (
  actor_kind IN ('operator', 'tenant', 'local', 'signup')
  AND (actor_id IS NOT NULL) = (actor_kind IN ('operator', 'tenant'))
  AND (actor_name IS NOT NULL) = (actor_kind = 'local'));

-- What the log is asked for, newest first.
CREATE INDEX "audit_log_actor_kind_actor_id_id_idx" ON "audit_log" ("actor_kind", "actor_id", "id");
CREATE INDEX "audit_log_action_id_idx" ON "audit_log" ("action", "id");
