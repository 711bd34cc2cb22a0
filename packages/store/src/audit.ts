import type { Queryable } from './store.ts';

/** Who changed what. Secrets and personal data stay out of `before` and `after`. */
export interface AuditEntry {
  actor: { kind: 'operator'; id: string };
  action: string;
  subject: { kind: string; id: string };
  before: object | null;
  after: object | null;
  requestId: string | null;
}

/** Appends to the audit log in the transaction of the change itself. */
export async function insertAudit(tx: Queryable, entry: AuditEntry): Promise<void> {
  const { actor, subject } = entry;
  await tx.$executeRaw`
    INSERT INTO audit_log (at, actor_kind, actor_id, action, subject_kind, subject_id, before, after, request_id)
    VALUES (svc_now(), ${actor.kind}, ${actor.id}::uuid, ${entry.action}, ${subject.kind}, ${subject.id},
      ${jsonOf(entry.before)}::jsonb, ${jsonOf(entry.after)}::jsonb, ${entry.requestId})`;
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
