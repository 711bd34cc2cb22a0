import { clusterSlotCount } from '@svc/queue';
import { type Deployment, fault, type Finding, isLocal, ok, warning } from './finding.ts';

/** The fleet registry needs `ZMSCORE`, which Redis has since 6.2. BullMQ recommends 6.2, too. */
const versionMin = 6.2;
const memoryWarningPart = 0.8;

export function checkRedis({ redis, redisUrl, redisFault, environment }: Deployment): Finding[] {
  if (redis === null) {
    if (redisFault !== undefined) return [fault('redis', redisFault, 'Correct REDIS_URL.')];
    const found = redisUrl === undefined ? 'REDIS_URL is not set' : 'Redis cannot be reached';
    return [fault('redis', found, 'Start Redis, and set REDIS_URL to its address.')];
  }
  const { health, cluster } = redis;
  return [
    ...(cluster === null ? ofServer(health) : ofCluster(cluster)),
    ...(redisUrl === undefined ? [] : [encryption(redisUrl, environment)]),
  ];
}

type Health = NonNullable<Deployment['redis']>['health'];
type Cluster = NonNullable<NonNullable<Deployment['redis']>['cluster']>;

function ofServer(health: Health): Finding[] {
  return [version(health.version), policy(health), persistence(health)];
}

function ofCluster({ masters, slotsOwned }: Cluster): Finding[] {
  const each = masters.flatMap(({ name, health }) =>
    health === null
      ? [
          fault(
            'redis',
            `the master ${name} does not answer, or refuses INFO or TIME`,
            'Start it, or let its replica take over. If it runs, check the user in REDIS_URL.',
          ),
        ]
      : ofServer(health).map((finding) => ({ ...finding, found: `${name}: ${finding.found}` })),
  );
  return [...each, coverage(masters.length, slotsOwned)];
}

function coverage(masterCount: number, slotsOwned: number): Finding {
  const name = 'redis cluster';
  if (slotsOwned >= clusterSlotCount) return ok(name, `${masterCount} masters own all slots`);
  return fault(
    name,
    `${clusterSlotCount - slotsOwned} of ${clusterSlotCount} slots have no master`,
    'Assign these slots with redis-cli --cluster fix.',
  );
}

function version(found: string | null): Finding {
  if (found === null || Number.parseFloat(found) >= versionMin) {
    return ok('redis', `Redis ${found ?? 'of an unknown version'}`);
  }
  return fault('redis', `Redis ${found}`, `Upgrade Redis to ${versionMin} or later.`);
}

function policy({ maxmemoryPolicy, usedBytes, maxBytes }: Health): Finding {
  const name = 'redis memory';
  if (maxmemoryPolicy === null) {
    return warning(
      name,
      'Redis does not report its maxmemory-policy',
      'Check that maxmemory-policy is noeviction.',
    );
  }
  if (maxmemoryPolicy !== 'noeviction') {
    return fault(
      name,
      `maxmemory-policy is ${maxmemoryPolicy}, so Redis may drop keys when its memory is full`,
      'Set maxmemory-policy to noeviction.',
    );
  }
  if (
    usedBytes !== null &&
    maxBytes !== null &&
    maxBytes > 0 &&
    usedBytes > maxBytes * memoryWarningPart
  ) {
    const percent = Math.floor((usedBytes * 100) / maxBytes);
    return warning(
      name,
      `${percent} % of maxmemory is used`,
      'Raise maxmemory, or find what fills the queues.',
    );
  }
  return ok(name, 'maxmemory-policy is noeviction');
}

function persistence({ isAppendOnly, isWritten }: Health): Finding {
  const name = 'redis file';
  if (isWritten === false) {
    return fault(
      name,
      'the last write or rewrite of the append-only file, or the last dump, failed',
      'Check the disk and the log of Redis.',
    );
  }
  if (isAppendOnly === null)
    return ok(name, 'Redis does not report whether its append-only file is on');
  if (isAppendOnly) return ok(name, 'the append-only file is on');
  return warning(
    name,
    'the append-only file is off: after a restart of Redis, paused queues run again and work is late by seconds',
    'Set appendonly to yes in the configuration of Redis.',
  );
}

function encryption(redisUrl: string, environment: Deployment['environment']): Finding {
  const name = 'redis tls';
  if (redisUrl.startsWith('rediss')) return ok(name, 'the connection is encrypted');
  if (isLocal(redisUrl)) return ok(name, 'the connection stays on this machine');
  return (environment === 'production' ? fault : warning)(
    name,
    'the connection crosses a network and is not encrypted',
    'Enable TLS in Redis, and write rediss instead of redis in REDIS_URL.',
  );
}
