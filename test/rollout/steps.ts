import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceName, serviceNames } from '@svc/local';
import type { Fault } from '../faults/catalogue/fault.ts';
import type { ServiceUnderTest, World } from '../faults/world/types.ts';

/**
 * In the phase `quiet`, no process starts or ends after `Balancer.open`. `rolled` replaces the
 * processes one by one, and `scaled` changes their number.
 */
export type Phase = 'quiet' | 'rolled' | 'scaled';

export interface Step extends Fault {
  readonly phase: Phase;
}

export interface StepOptions {
  readonly rounds: number;
  readonly services: readonly ServiceName[];
  readonly quietSeconds: number;
  /**
   * If true, the trial scales each of `services` from 1 process to `processesMax` and back to 1.
   * Each service then gets `usual` processes again.
   */
  readonly scales: boolean;
  /**
   * If true, the phase `rolled` kills each process without a withdrawal from the load balancer. A
   * run with kills is the negative control.
   */
  readonly kills: boolean;
}

export const processesMax = 4;
/** The number of processes of each service, except in the phase `scaled`. */
const usual = 2;
/** The time from the withdrawal of a process from the load balancer to its SIGTERM. */
const withdrawnMs = 500;
const afterStepMs = 2_000;

export function planSteps(balancer: Balancer, options: StepOptions): Step[] {
  const { rounds, services, quietSeconds, scales, kills } = options;
  const scale = (service: ServiceName, count: number) =>
    step('scaled', `${service}: scale to ${count}`, (world) =>
      balancer.scale(world, service, count),
    );
  const begin = step('quiet', 'quiet', (world) => balancer.open(world), quietSeconds * 1_000);
  const rolled = Array.from({ length: rounds }, () =>
    services.flatMap((service) =>
      Array.from({ length: usual }, (_, index) =>
        step('rolled', `${service} ${index}: ${kills ? 'kill' : 'restart'}`, (world) =>
          balancer.restart(processOf(world, service, index), kills),
        ),
      ),
    ),
  ).flat();
  const counts = [1, 2, 3, processesMax, 3, 2, 1, usual];
  const scaled = services.flatMap((service) => counts.map((count) => scale(service, count)));
  return [begin, ...rolled, ...(scales ? scaled : [])];
}

function step(phase: Phase, name: string, strike: Fault['strike'], lastsMs = afterStepMs): Step {
  return { kind: name.replace(/ \d+/, ''), name, phase, lastsMs, strike, heal: () => {} };
}

export interface Balancer {
  /** Gives tenants one address for all gateways. Scales each service to `usual` processes. */
  open(world: World): Promise<void>;
  /**
   * Withdraws the process from the balancer and ends it with SIGTERM. If `kills` is true, kills it
   * without a withdrawal instead. Then starts the process again.
   */
  restart(one: ServiceUnderTest, kills: boolean): Promise<void>;
  scale(world: World, service: ServiceName, count: number): Promise<void>;
}

export function createBalancer(): Balancer {
  const withdrawn = new Set<ServiceUnderTest>();
  const stop = async (one: ServiceUnderTest): Promise<void> => {
    withdrawn.add(one);
    await sleep(withdrawnMs);
    await one.process.stop();
  };
  const start = async (one: ServiceUnderTest): Promise<void> => {
    await one.process.start();
    withdrawn.delete(one);
  };
  const scale: Balancer['scale'] = async (world, service, count) => {
    for (const one of processesOf(world, service)) {
      const isWanted = one.index < count;
      if (isWanted && !one.process.isUp()) await start(one);
      if (!isWanted && one.process.isUp()) await stop(one);
    }
  };
  return {
    scale,
    async open(world) {
      let turn = 0;
      const proxy = await world.openProxy('tenants - gateways', () => {
        const serving = processesOf(world, 'gateway').filter(
          (one) => one.process.isUp() && !withdrawn.has(one),
        );
        turn += 1;
        const port = serving[turn % Math.max(1, serving.length)]?.process.ready.port;
        return port === undefined ? undefined : { port };
      });
      world.gatewayUrls.splice(0, Infinity, `http://127.0.0.1:${proxy.port}`);
      for (const service of serviceNames) await scale(world, service, usual);
    },
    async restart(one, kills) {
      await (kills ? one.process.kill() : stop(one));
      await start(one);
    },
  };
}

function processesOf({ services }: World, service: ServiceName): ServiceUnderTest[] {
  return services.filter((one) => one.service === service);
}

function processOf(world: World, service: ServiceName, index: number): ServiceUnderTest {
  const found = processesOf(world, service)[index];
  if (found === undefined) throw new Error(`there is no ${service} ${index}`);
  return found;
}
