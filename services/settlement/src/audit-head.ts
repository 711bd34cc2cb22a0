import { runUntilClosed, type Lifecycle, type Logger } from '@svc/runtime';
import { type AuditHead, sealAuditHead, type Store } from '@svc/store';

const headIntervalMs = 60_000;

export interface AuditHeadDeps {
  readonly store: Store;
  readonly logger: Logger;
  readonly setAuditFaults: (count: number) => void;
}

/**
 * Seals the head of the audit log's chain every minute and verifies the entries that were appended.
 */
export function startAuditHead(deps: AuditHeadDeps, lifecycle: Lifecycle): void {
  const { logger } = deps;
  const run = createHeadSealer(deps);
  runUntilClosed(lifecycle, { name: 'audit head', intervalMs: headIntervalMs, run, logger });
}

/**
 * Returns a function that runs one pass. The head is logged, so that a copy exists outside the
 * database. It is also remembered, so that a restored or removed head in the database does not hide
 * a change from this process.
 */
export function createHeadSealer(deps: AuditHeadDeps): () => Promise<void> {
  const { store, logger, setAuditFaults } = deps;
  let noted: AuditHead | null = null;
  return async () => {
    const { head, faults } = await sealAuditHead(store, noted);
    setAuditFaults(faults.length);
    if (faults.length === 0) noted = head ?? noted;
    const position = head === null ? 0 : Number(head.position);
    if (faults.length === 0) logger.info({ position, hash: head?.hash }, 'audit head');
    else logger.error({ position, faults: faults.map(shown) }, 'the audit log has faults');
  };
}

function shown(fault: object): object {
  const entries = Object.entries(fault).map(([name, value]) => [
    name,
    typeof value === 'bigint' ? Number(value) : value,
  ]);
  return Object.fromEntries(entries);
}
