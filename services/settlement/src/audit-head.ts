import { every, type Lifecycle, type Logger } from '@svc/runtime';
import { sealAuditHead, type Store } from '@svc/store';

const headIntervalMs = 60_000;

export interface AuditHeadDeps {
  readonly store: Store;
  readonly logger: Logger;
  readonly setAuditFaults: (count: number) => void;
}

/** Seals the end of the audit log's chain every minute, and looks at what was appended before it. */
export function startAuditHead(deps: AuditHeadDeps, lifecycle: Lifecycle): void {
  const { logger } = deps;
  const run = () => sealHead(deps);
  const heads = every({ name: 'audit head', intervalMs: headIntervalMs, run, logger });
  lifecycle.add('audit head', () => heads.close());
}

/** One round; exported for its test. The head is logged, so that it is also outside the database. */
export async function sealHead({ store, logger, setAuditFaults }: AuditHeadDeps): Promise<void> {
  const { head, faults } = await sealAuditHead(store);
  setAuditFaults(faults.length);
  const position = head === null ? 0 : Number(head.position);
  if (faults.length === 0) logger.info({ position, hash: head?.hash }, 'audit head');
  else logger.error({ position, faults: faults.map(shown) }, 'the audit log was tampered with');
}

function shown(fault: object): object {
  const entries = Object.entries(fault).map(([name, value]) => [
    name,
    typeof value === 'bigint' ? Number(value) : value,
  ]);
  return Object.fromEntries(entries);
}
