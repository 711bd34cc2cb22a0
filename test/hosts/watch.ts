import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { objectOf } from '../faults/load/json.ts';
import type { ServiceUnderTest, World } from '../faults/world/types.ts';
import type { Change, Statement } from './readiness.ts';

export interface Watch {
  readonly services: readonly string[];
  readonly statements: readonly Statement[];
  readonly changes: readonly Change[];
  note(service: string, unreachable: readonly string[]): void;
  stop(): Promise<void>;
}

const everyMs = 300;
/**
 * The longest wait for an answer of `/ready`. A service answers after about 2 s even if its checks
 * time out, so this wait is long enough.
 */
const answerMsMax = 6_000;

export function startWatch(world: World, fromAddress: string): Watch {
  const statements: Statement[] = [];
  const changes: Change[] = [];
  const ended = new AbortController();
  const follow = async (one: ServiceUnderTest): Promise<void> => {
    const service = one.process.name;
    const url = readyUrl(world, one);
    while (!ended.signal.aborted) {
      const askedMs = performance.now();
      const missing = await ask(url, fromAddress).catch(() => undefined);
      statements.push({ service, askedMs, answeredMs: performance.now(), missing });
      await sleep(everyMs);
    }
  };
  const followed = Promise.all(world.services.map(follow));
  return {
    services: world.services.map(({ process }) => process.name),
    statements,
    changes,
    note: (service, unreachable) =>
      void changes.push({ service, atMs: performance.now(), unreachable }),
    async stop() {
      ended.abort();
      await followed;
    },
  };
}

/**
 * The URL of a service's `/ready`. A gateway is asked at its public port, because `/ready` at its
 * admin port does not check Redis.
 */
function readyUrl(
  { hosts }: World,
  { service, process: { name, ready } }: ServiceUnderTest,
): string {
  const port = service === 'gateway' ? ready.port : ready.adminPort;
  return `http://${hosts.of(name).address}:${port}/ready`;
}

async function ask(url: string, localAddress: string): Promise<string[]> {
  const signal = AbortSignal.timeout(answerMsMax);
  const body = await new Promise<string>((resolve, reject) => {
    get(url, { localAddress, agent: false, signal }, (response) => {
      text(response).then(resolve, reject);
    }).once('error', reject);
  });
  const { status, missing } = objectOf(JSON.parse(body));
  if (status === 'ready') return [];
  if (Array.isArray(missing)) return missing.map(String);
  throw new Error(`${url} answered ${body}`);
}
