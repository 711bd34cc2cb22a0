import type { Logger } from '@svc/runtime';
import type { Store } from '@svc/store';
import { GatedStore } from '../schedule/gated-store.ts';
import type { SimulatedProcess } from '../schedule/process.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { Messaging } from './messaging.ts';
import type { Network } from './network.ts';
import type { Rig } from './rig.ts';

export interface Ground {
  readonly rig: Rig;
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly messaging: Messaging;
  readonly logger: Logger;
  /**
   * Called after each commit that may have changed what the auditor checks. The auditor reads its
   * rows again before the next step.
   */
  readonly onCommit: () => void;
  readonly complain: (subject: string, what: string) => void;
}

export const redisPrefix = 'interleaving';

export function storeOf(ground: Ground, process: SimulatedProcess): Store {
  const { rig, scheduler, onCommit } = ground;
  return new GatedStore(process, scheduler, onCommit).over(rig.store);
}

/**
 * The Redis of one process. Its `publish` goes to `messaging`, where the seed decides when a
 * message arrives. All other calls reach the real Redis.
 */
export function redisOf(ground: Ground, process: SimulatedProcess): Rig['redis'] {
  const { rig, messaging } = ground;
  return new Proxy(rig.redis, {
    get(target, key) {
      if (key !== 'publish') return Reflect.get(target, key);
      return (_channel: string, text: string) => messaging.publishToAll(process, text);
    },
  });
}

/**
 * Starts background work of a process. An error of the work is a violation, unless the process was
 * killed.
 */
export function start(
  ground: Ground,
  process: SimulatedProcess,
  work: () => Promise<unknown>,
): void {
  ground.scheduler.inProcess(process, process.run(work), (error) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    ground.complain(process.name, `threw ${text}`);
  });
}
