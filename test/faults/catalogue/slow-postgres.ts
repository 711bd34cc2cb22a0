import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../simulation/random.ts';
import type { World } from '../world/types.ts';
import { type FaultKind, lastingKind, seconds, type Targets } from './fault.ts';
import { awayMsMax, processOf } from './processes.ts';
import { proxyOf } from './proxies.ts';

/**
 * Delays of packets to and from Postgres, in milliseconds. They let a second fault strike after a
 * commit, and before the service that asked for the commit learns of it.
 */
const delaysMs = [80, 160, 250] as const;
/**
 * Postgres stays slow for at least this many times `delayMs`. By then, submissions are at every
 * step of their life, and a second fault may strike.
 */
const waysBefore = 8;

interface Slow {
  readonly delayMs: number;
  readonly proxies: readonly string[];
}

function drawSlow(random: Random, { proxies }: Targets): Slow {
  return {
    delayMs: random.pick(delaysMs) ?? 0,
    proxies: proxies.filter((name) => name.endsWith(' - Postgres')),
  };
}

function slowDown(world: World, { proxies, delayMs }: Slow): void {
  for (const name of proxies) proxyOf(world, name).delay(delayMs);
}

function speedUp(world: World, { proxies }: Slow): void {
  for (const name of proxies) proxyOf(world, name).heal();
}

async function slowDownFor(world: World, slow: Slow, extraMs: number): Promise<void> {
  slowDown(world, slow);
  await sleep(waysBefore * slow.delayMs + extraMs);
}

/**
 * Delays all packets between the services and Postgres. This makes the commit after a node's accept
 * slow. A second node can get an offer and accept before that commit ends.
 */
const slowPostgres = lastingKind('a slow Postgres', 5, (random, targets) => {
  const slow = drawSlow(random, targets);
  return {
    name: `packets to and from Postgres ${slow.delayMs} ms late`,
    atLeastMs: waysBefore * slow.delayMs,
    strike: (world) => slowDown(world, slow),
    heal: (world) => speedUp(world, slow),
  };
});

/**
 * Stops Postgres while its packets are late. A commit in flight may be lost. A commit may also
 * succeed although no process learns of the success.
 */
const stoppedWhileSlow = lastingKind('Postgres stopped while slow', 4, (random, targets) => {
  const slow = drawSlow(random, targets);
  const extraMs = random.nat(2 * slow.delayMs);
  return {
    name: `packets to and from Postgres ${slow.delayMs} ms late, then Postgres stopped in immediate mode`,
    async strike(world) {
      await slowDownFor(world, slow, extraMs);
      await world.postgres.stopImmediately();
    },
    async heal(world) {
      speedUp(world, slow);
      await world.postgres.start();
    },
  };
});

/** Kills one process of each service while Postgres is slow, as if their host failed. */
const killedWhileSlow: FaultKind = {
  kind: 'one of each service killed while Postgres is slow',
  weight: 5,
  plan(random, targets) {
    const slow = drawSlow(random, targets);
    const extraMs = random.nat(2 * slow.delayMs);
    const byService = Map.groupBy(targets.services, ({ service }) => service);
    const struck = [...byService.values()].flatMap((those) => random.pick(those)?.name ?? []);
    const lastsMs = random.nat(awayMsMax);
    return {
      kind: this.kind,
      name: `packets to and from Postgres ${slow.delayMs} ms late, then kill -9 ${struck.join(', ')}, started again after ${seconds(lastsMs)}`,
      lastsMs,
      async strike(world) {
        await slowDownFor(world, slow, extraMs);
        await Promise.all(struck.map((name) => processOf(world, name).kill()));
      },
      async heal(world) {
        speedUp(world, slow);
        await Promise.all(struck.map((name) => processOf(world, name).start()));
      },
    };
  },
};

export const slowPostgresFaults: readonly FaultKind[] = [
  slowPostgres,
  stoppedWhileSlow,
  killedWhileSlow,
];
