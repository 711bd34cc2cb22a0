import { processOf } from '../../faults/catalogue/processes.ts';
import type { World } from '../../faults/world/types.ts';

export interface LiveFault {
  readonly name: string;
  /** These alerts must fire within `noticeSecondsMax`. */
  readonly must: readonly string[];
  /**
   * Alerts on consequences of the fault. They may fire. An alert that is in neither list must not
   * fire.
   */
  readonly may: readonly string[];
  strike(world: World): Promise<void> | void;
  heal(world: World): Promise<void> | void;
}

const settlement: LiveFault = {
  name: 'settlement',
  must: ['SvcProcessDown', 'SvcFiguresStale'],
  may: ['SvcSettlementLagFast', 'SvcSettlementLagSlow', 'SvcSettlementStuck'],
  strike: (world) => processOf(world, 'settlement 0').kill(),
  heal: (world) => processOf(world, 'settlement 0').start(),
};

const fleet: LiveFault = {
  name: 'fleet',
  must: ['SvcNoNodes'],
  may: [
    'SvcNoCapacity',
    'SvcQueueOld',
    'SvcCreationAvailabilityFast',
    'SvcCreationAvailabilitySlow',
    'SvcCreationLatencyFast',
    'SvcCreationLatencySlow',
  ],
  strike: (world) => nodeProxies(world).forEach((proxy) => proxy.sever()),
  heal: (world) => nodeProxies(world).forEach((proxy) => proxy.heal()),
};

function nodeProxies({ proxies }: World) {
  return [...proxies.values()].filter(({ name }) => name.endsWith(' - dispatchers'));
}

export const liveFaults: readonly LiveFault[] = [settlement, fleet];
