import { poolConnectionsMax } from '../context.ts';
import { type Deployment, fault, type Finding, ok, warning } from './finding.ts';

const services = ['gateway', 'dispatcher', 'settlement', 'webhooks'];
const skewWarningMs = 1_000;
const skewFaultMs = 60_000;
const certificateWarningDays = 21;
const dayMs = 86_400_000;

export function checkServices(deployment: Deployment): Finding[] {
  return [
    running(deployment),
    versions(deployment),
    pools(deployment),
    ...clocks(deployment),
    ...certificates(deployment),
  ];
}

function running({ redis }: Deployment): Finding {
  if (redis === null) {
    return warning(
      'services',
      'without Redis, svc does not know which services run',
      'Start Redis, or correct REDIS_URL. Then repeat the command.',
    );
  }
  const missing = services.filter(
    (name) => !redis.services.some(({ service }) => service === name),
  );
  if (missing.length === 0) return ok('services', `${redis.services.length} processes run`);
  return fault(
    'services',
    `not running: ${missing.join(', ')}`,
    'Start these services. If they run, check their REDIS_URL and their logs.',
  );
}

const nameOf = ({ version, schema }: Deployment['build']) => `${version} (${schema})`;

function versions({ redis, build }: Deployment): Finding {
  const found = new Map<string, string[]>();
  for (const { service, facts } of redis?.services ?? []) {
    const version = facts === undefined ? 'an earlier version' : nameOf(facts);
    found.set(version, [...(found.get(version) ?? []), service]);
  }
  const text = [...found].map(([version, names]) => `${version}: ${names.join(', ')}`).join('; ');
  const isSame = [...found.keys()].every((version) => version === nameOf(build));
  if (isSame)
    return ok(
      'versions',
      `svc has the version ${nameOf(build)}, and no service reports another one`,
    );
  return warning(
    'versions',
    `svc has the version ${nameOf(build)}. Services: ${text}`,
    'Finish the rollout, and run svc of the same build.',
  );
}

/**
 * Checks that Postgres allows enough connections, even if all processes and one call of `svc` fill
 * their pools at the same moment.
 */
function pools({ redis, database }: Deployment): Finding {
  const unknown = redis?.services.filter(({ facts }) => facts === undefined).length ?? 0;
  const poolsMax = (redis?.services ?? []).map(({ facts }) => facts?.poolMax ?? 0);
  const needed = poolsMax.reduce((sum, max) => sum + max, 0) + poolConnectionsMax;
  const counted = poolsMax.length - unknown;
  const found = `${counted} processes and svc may open ${needed} connections; Postgres allows ${database.sessionsMax}`;
  if (needed > database.sessionsMax) {
    return fault(
      'pools',
      found,
      'Lower DATABASE_POOL_MAX, run fewer processes, or raise the connection limit in Postgres.',
    );
  }
  if (redis === null || unknown > 0) {
    const which =
      redis === null
        ? 'all processes (there is no connection to Redis)'
        : `${unknown} processes of an earlier version`;
    return warning(
      'pools',
      `${found}; not counted: ${which}`,
      'Make Redis reachable or finish the rollout, then repeat the command.',
    );
  }
  return ok('pools', found);
}

/** All clocks are compared with the clock of Postgres. */
function clocks({ databaseClock, redis }: Deployment): Finding[] {
  const hereAheadMs = databaseClock.askedMs - databaseClock.now.getTime();
  const here = { name: 'this machine', aheadMs: hereAheadMs };
  if (redis === null) return [clock([here])];
  const redisAheadMs = redis.health.nowMs - redis.askedMs + hereAheadMs;
  const ofServices = redis.services.flatMap(({ service, host, pid, clockAheadMs }) =>
    clockAheadMs === null
      ? []
      : [{ name: `${service} ${host}/${pid}`, aheadMs: redisAheadMs + clockAheadMs }],
  );
  return [clock([here, { name: 'Redis', aheadMs: redisAheadMs }, ...ofServices])];
}

function clock(all: readonly { readonly name: string; readonly aheadMs: number }[]): Finding {
  const worst = Math.max(...all.map(({ aheadMs }) => Math.abs(aheadMs)));
  const off = all.filter(({ aheadMs }) => Math.abs(aheadMs) > skewWarningMs);
  if (off.length === 0) {
    return ok('clocks', `${all.length} clocks are within ${Math.ceil(worst)} ms of Postgres`);
  }
  const found = off
    .map(
      ({ name, aheadMs }) =>
        `${name} is ${Math.round(Math.abs(aheadMs))} ms ${aheadMs > 0 ? 'ahead of' : 'behind'} Postgres`,
    )
    .join('; ');
  const state = worst > skewFaultMs ? fault : warning;
  return state('clocks', found, 'Synchronise the clocks of all machines with NTP.');
}

function certificates({ redis, databaseClock }: Deployment): Finding[] {
  return (redis?.services ?? []).flatMap(({ service, host, pid, facts }) => {
    const expiresAt = facts?.certificateExpiresAt;
    if (expiresAt === undefined) return [];
    const days = Math.floor((Date.parse(expiresAt) - databaseClock.now.getTime()) / dayMs);
    const found = `the certificate of ${service} ${host}/${pid} has the expiry time ${expiresAt}`;
    if (days >= certificateWarningDays) return [ok('certificates', found)];
    const state = days < 0 ? fault : warning;
    return [state('certificates', found, 'Renew the certificate and restart the service.')];
  });
}
