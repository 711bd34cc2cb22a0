import { runUntilClosed, type Lifecycle, type Logger } from '@svc/runtime';
import { type AuditHead, sealAuditHead, type Store } from '@svc/store';

const headIntervalMs = 60_000;

export interface AuditHeadDeps {
  readonly store: Store;
  readonly logger: Logger;
  readonly setAuditFaults: (count: number) => void;
}

export function startAuditHead(deps: AuditHeadDeps, lifecycle: Lifecycle): void {
  const { logger } = deps;
  const run = createHeadSealer(deps);
  runUntilClosed(lifecycle, { name: 'audit head', intervalMs: headIntervalMs, run, logger });
}

/**
 * The returned function verifies the new entries of the audit log and seals its head. It also
 * checks that the log still contains the head from its last call without faults.
 */
export function createHeadSealer(deps: AuditHeadDeps): () => Promise<void> {
  const { store, logger, setAuditFaults } = deps;
  let noted: AuditHead | null = null;
  return async () => {
    const { head, faults } = await sealAuditHead(store, noted);
    setAuditFaults(faults.length);
    if (faults.length === 0) noted = head ?? noted;
    const position = head === null ? 0 : Number(head.position);
    // The service's log keeps a copy of the head outside of the database.
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
