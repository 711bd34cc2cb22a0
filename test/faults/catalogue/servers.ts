import { type FaultKind, lastingKind, momentaryKind } from './fault.ts';

const flush = momentaryKind('FLUSHALL', 12, () => ({
  name: 'FLUSHALL',
  strike: async ({ redis }) => void (await redis.command('FLUSHALL')),
}));

function redisAway(kind: string, weight: number, { empty }: { readonly empty: boolean }) {
  return lastingKind(kind, weight, () => ({
    name: `${kind}, down`,
    strike: ({ redis }) => redis.kill(),
    heal: ({ redis }) => redis.start({ empty }),
  }));
}

const restartRedis = redisAway('Redis killed and started', 5, { empty: false });
const replaceRedis = redisAway('Redis replaced by an empty one', 4, { empty: true });

/** Redis refuses every command that could need memory, and keeps its data (`noeviction`). */
const fullRedis = lastingKind('Redis at maxmemory', 5, () => ({
  name: 'Redis at maxmemory',
  strike: async ({ redis }) => void (await redis.command('CONFIG SET maxmemory 1')),
  async heal({ redis }) {
    // A Redis that is down needs no command, because it restarts without the limit.
    if (redis.isUp()) await redis.command('CONFIG SET maxmemory 0');
  },
}));

const restartPostgres = lastingKind('Postgres stopped (immediate) and started', 6, () => ({
  name: 'Postgres stopped (immediate), down',
  strike: ({ postgres }) => postgres.stopImmediately(),
  heal: ({ postgres }) => postgres.start(),
}));

const fullDiskOfRedis = lastingKind('a full disk under Redis', 2, (_, targets) =>
  targets.disksCanBeFull
    ? {
        name: 'disk of Redis full',
        strike: ({ disks }) => disks.redis.fill(),
        heal: ({ disks }) => disks.redis.free(),
      }
    : undefined,
);

/**
 * Postgres ends if its write-ahead log cannot grow. `heal` does what an operator would do: it frees
 * space and starts Postgres again.
 */
const fullDiskOfPostgres = lastingKind('a full disk under Postgres', 2, (_, targets) =>
  targets.disksCanBeFull
    ? {
        name: 'disk of Postgres full',
        strike: ({ disks }) => disks.postgres.fill(),
        async heal({ disks, postgres }) {
          disks.postgres.free();
          await postgres.stopImmediately();
          await postgres.start();
        },
      }
    : undefined,
);

export const serverFaults: readonly FaultKind[] = [
  flush,
  restartRedis,
  replaceRedis,
  fullRedis,
  restartPostgres,
  fullDiskOfRedis,
  fullDiskOfPostgres,
];
