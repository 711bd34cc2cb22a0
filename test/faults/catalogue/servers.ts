import { type Fault, type FaultKind, lasting, type Pace, seconds } from './fault.ts';
import type { Random } from '../../simulation/random.ts';

const flush: FaultKind = {
  kind: 'FLUSHALL',
  weight: 12,
  plan() {
    return {
      kind: this.kind,
      name: 'FLUSHALL',
      lastsMs: 0,
      strike: async ({ redis }) => void (await redis.command('FLUSHALL')),
      heal: () => {},
    };
  },
};

const restartRedis: FaultKind = {
  kind: 'Redis killed and started',
  weight: 5,
  plan: (random, _targets, pace) => redisAway('Redis killed and started', random, pace, false),
};

const replaceRedis: FaultKind = {
  kind: 'Redis replaced by an empty one',
  weight: 4,
  plan: (random, _targets, pace) => redisAway('Redis replaced by an empty one', random, pace, true),
};

function redisAway(kind: string, random: Random, pace: Pace, empty: boolean): Fault {
  const lastsMs = lasting(random, pace);
  return {
    kind,
    name: `${kind} after ${seconds(lastsMs)}`,
    lastsMs,
    strike: ({ redis }) => redis.kill(),
    heal: ({ redis }) => redis.start({ empty }),
  };
}

/** Every command that could need memory is refused; what is there stays (`noeviction`). */
const fullRedis: FaultKind = {
  kind: 'Redis at maxmemory',
  weight: 5,
  plan(random, _targets, pace) {
    const lastsMs = lasting(random, pace);
    return {
      kind: this.kind,
      name: `Redis at maxmemory for ${seconds(lastsMs)}`,
      lastsMs,
      strike: async ({ redis }) => void (await redis.command('CONFIG SET maxmemory 1')),
      heal: async ({ redis }) => void (await redis.command('CONFIG SET maxmemory 0')),
    };
  },
};

const restartPostgres: FaultKind = {
  kind: 'Postgres stopped (immediate) and started',
  weight: 6,
  plan(random, _targets, pace) {
    const lastsMs = lasting(random, pace);
    return {
      kind: this.kind,
      name: `Postgres stopped (immediate), started after ${seconds(lastsMs)}`,
      lastsMs,
      strike: ({ postgres }) => postgres.stopImmediately(),
      heal: ({ postgres }) => postgres.start(),
    };
  },
};

const fullDiskOfRedis: FaultKind = {
  kind: "a full disk under Redis's file",
  weight: 2,
  plan(random, targets, pace) {
    if (!targets.disksCanBeFull) return undefined;
    const lastsMs = lasting(random, pace);
    return {
      kind: this.kind,
      name: `disk of Redis full for ${seconds(lastsMs)}`,
      lastsMs,
      strike: ({ disks }) => disks.redis.fill(),
      heal: ({ disks }) => disks.redis.free(),
    };
  },
};

/** Postgres gives up where its log cannot grow; an operator makes room and starts it again. */
const fullDiskOfPostgres: FaultKind = {
  kind: 'a full disk under Postgres',
  weight: 2,
  plan(random, targets, pace) {
    if (!targets.disksCanBeFull) return undefined;
    const lastsMs = lasting(random, pace);
    return {
      kind: this.kind,
      name: `disk of Postgres full for ${seconds(lastsMs)}, then started again`,
      lastsMs,
      strike: ({ disks }) => disks.postgres.fill(),
      async heal({ disks, postgres }) {
        disks.postgres.free();
        await postgres.stopImmediately();
        await postgres.start();
      },
    };
  },
};

export const serverFaults: readonly FaultKind[] = [
  flush,
  restartRedis,
  replaceRedis,
  fullRedis,
  restartPostgres,
  fullDiskOfRedis,
  fullDiskOfPostgres,
];
