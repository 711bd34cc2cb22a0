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
import { lastingPort } from './lasting-ports.ts';
import { testServers } from './test-environment.ts';

/**
 * The file from which a process under test starts: its bundle, or `entry` itself if the run has no
 * bundles.
 */
export function entryUnderTest(entry: string): string {
  const { bundles } = testServers();
  return bundles === undefined ? entry : bundleOf(bundles, entry);
}

/**
 * Options that save CPU (0.33 s instead of 0.39 s for a start). They make V8's young generation so
 * large that most processes end before it is full.
 */
const nodeOptions = ['--min-semi-space-size=64', '--max-semi-space-size=64'];

/**
 * A place in a stack for one process. `restart` kills the process and starts a new one. The ports
 * of a service stay the same.
 */
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
  readonly envAt?: ((index: number) => NodeJS.ProcessEnv) | undefined;
}

export async function startSlot(plan: SlotPlan, failpoints: Failpoints): Promise<Slot> {
  const { service, index } = plan;
  const [port, adminPort] = [await lastingPort(), await lastingPort()];
  const ports = samePorts(service, { port, adminPort });
  const start = () =>
    startServiceProcess({
      name: `${service} ${index}`,
      entry: entryUnderTest(serviceEntry(service)),
      nodeOptions,
      env: { ...plan.env, ...plan.envAt?.(index), ...ports },
      onMessage: (message) => failpoints.receive(slot, message),
    });
  const slot: Slot = {
    service,
    index,
    current: await start(),
    async restart() {
      await slot.current.kill();
      slot.current = await start();
    },
  };
  return slot;
}

export async function startNodeSlot(index: number, command: ServiceCommand): Promise<Slot> {
  const entry = entryUnderTest(command.entry);
  const start = () => startServiceProcess({ ...command, entry, nodeOptions });
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
