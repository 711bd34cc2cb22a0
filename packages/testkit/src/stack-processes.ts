import {
  samePorts,
  type ServiceCommand,
  type ServiceName,
  type ServiceProcess,
  serviceEntry,
  startServiceProcess,
} from '@svc/local';
import { bundleOf } from './bundles.ts';
import type { Failpoints } from './failpoints.ts';
import { testServers } from './test-environment.ts';

/** The file that a process under test starts from. */
export function entryUnderTest(entry: string): string {
  const { bundles } = testServers();
  return bundles === undefined ? entry : bundleOf(bundles, entry);
}

/** One place of a stack: a process now, and after a restart another one on the same ports. */
export interface Slot {
  readonly service: ServiceName | 'node';
  readonly index: number;
  current: ServiceProcess;
  restart(): Promise<void>;
}

export interface SlotPlan {
  readonly service: ServiceName;
  readonly index: number;
  readonly env: NodeJS.ProcessEnv;
  /** Armed in the first process only: one that is started again runs through. */
  readonly failpoints: readonly string[];
}

export async function startSlot(plan: SlotPlan, failpoints: Failpoints): Promise<Slot> {
  const { service, index } = plan;
  const start = (extra: NodeJS.ProcessEnv) =>
    startServiceProcess({
      name: `${service} ${index}`,
      entry: entryUnderTest(serviceEntry(service)),
      env: { ...plan.env, ...extra },
      onMessage: (message, answer) =>
        failpoints.hear(service, index, message, (name) => answer({ release: name })),
    });
  const armed = plan.failpoints.join(',');
  const first = await start(armed === '' ? {} : { SVC_FAILPOINTS: armed });
  const slot: Slot = {
    service,
    index,
    current: first,
    async restart() {
      await slot.current.kill();
      slot.current = await start(samePorts(service, first.ready));
    },
  };
  return slot;
}

/** A simulated node: the node agent as its operator runs it. */
export async function startNodeSlot(index: number, command: ServiceCommand): Promise<Slot> {
  const entry = entryUnderTest(command.entry);
  const start = () => startServiceProcess({ ...command, entry });
  const slot: Slot = {
    service: 'node',
    index,
    current: await start(),
    async restart() {
      await slot.current.kill();
      slot.current = await start();
    },
  };
  return slot;
}
