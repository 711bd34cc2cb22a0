import { setTimeout as sleep } from 'node:timers/promises';
import { textOf } from './load/json.ts';
import { application } from './load/load.ts';
import { submissionIdOf } from './load/seen.ts';
import type { LoadTenant } from './load/tenant.ts';
import type { ControlledProcess } from './world/controlled-process.ts';
import type { World } from './world/types.ts';

/**
 * Measures the time to recovery: until a new submission has completed, its webhook has arrived, and
 * every service that should run is ready.
 */
export interface Prober {
  /** Milliseconds from now to recovery. Undefined if it takes longer than `boundMs`. */
  untilRecovered(boundMs: number): Promise<number | undefined>;
  settle(): Promise<void>;
}

const everyMs = 200;
const inFlightMax = 10;
const probeTimeoutMs = 8_000;
const eventTimeoutMs = 30_000;

export function createProber(world: World, tenant: LoadTenant): Prober {
  const inFlight = new Set<Promise<void>>();
  let count = 0;
  const probe = async (): Promise<boolean> => {
    count += 1;
    const { seen, http } = world;
    const wanted = seen.add(application(tenant, `probe-${count}`, 'faults.quick', 'instant'));
    const answer = await http.ask(world.gatewayUrls[count % world.gatewayUrls.length] ?? '', {
      method: 'POST',
      target: '/v1/submissions',
      body: wanted.body,
      signer: tenant.signer,
      timeoutMs: probeTimeoutMs,
    });
    seen.noteCreation(wanted, answer, { wasCreated: false });
    const submissionId = submissionIdOf(wanted);
    if (submissionId === null) return false;
    const event = await tenant.receiver
      ?.waitFor(({ event: { data } }) => textOf(data['submissionId']) === submissionId, {
        timeoutMs: eventTimeoutMs,
      })
      .catch(() => undefined);
    return event?.event.type === 'submission.completed';
  };
  const untilProbed = async (until: number): Promise<boolean> => {
    const through = new AbortController();
    while (!through.signal.aborted && performance.now() < until) {
      if (inFlight.size < inFlightMax) {
        const one = probe().then((isDone) => (isDone ? through.abort() : undefined));
        inFlight.add(one);
        void one.finally(() => inFlight.delete(one));
      }
      await Promise.race([sleep(everyMs), ...inFlight]);
    }
    return through.signal.aborted;
  };
  const untilReady = async (until: number): Promise<boolean> => {
    for (const { process } of world.services) {
      while (process.isWanted() && !(await isReady(world, process))) {
        if (performance.now() >= until) return false;
        await sleep(50);
      }
    }
    return true;
  };
  return {
    async untilRecovered(boundMs) {
      const startedMs = performance.now();
      const until = startedMs + boundMs;
      const recovered = await Promise.all([untilProbed(until), untilReady(until)]);
      return recovered.every(Boolean) ? performance.now() - startedMs : undefined;
    },
    async settle() {
      await Promise.all(inFlight);
    },
  };
}

async function isReady(
  { http, hosts }: World,
  { name, ready }: ControlledProcess,
): Promise<boolean> {
  const answer = await http.ask(`http://${hosts.of(name).address}:${ready.adminPort}`, {
    method: 'GET',
    target: '/ready',
    timeoutMs: 1_000,
  });
  return answer?.status === 200;
}
