import { toWireId } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { appendAudit, type AuditedChange, type Author } from './audit.ts';

/**
 * Writes an audit entry before personal data is shown to an operator. Ids are UUIDs. `count` is the
 * number of shown records that have personal data.
 */
export async function auditReading(
  store: Store,
  reading: { submissionId: string } | { deliveryId: string } | { list: string; count: number },
  by: Author,
): Promise<void> {
  await appendAudit(store.query, by, readingOf(reading));
}

function readingOf(reading: Parameters<typeof auditReading>[1]): AuditedChange {
  if ('submissionId' in reading) {
    const id = toWireId('sub', reading.submissionId);
    return { ...read, action: 'submission.read', subject: { kind: 'submission', id } };
  }
  if ('deliveryId' in reading) {
    const id = toWireId('dlv', reading.deliveryId);
    return { ...read, action: 'delivery.read', subject: { kind: 'delivery', id } };
  }
  const { list: id, count } = reading;
  return { action: 'list.read', subject: { kind: 'service', id }, before: null, after: { count } };
}

const read = { before: null, after: null } as const;

/**
 * Runs `act`, a change outside Postgres, then commits its audit entry. If the commit fails, the
 * change has no entry. `act` must be short: a transaction is open.
 */
export async function withAudit<T>(
  store: Store,
  change: AuditedChange,
  by: Author,
  act: () => Promise<T>,
): Promise<T> {
  return store.transaction(async (query) => {
    await appendAudit(query, by, change);
    return act();
  });
}
