import { listServices, readClusterHealth, readRedisHealth } from '@svc/queue';
import {
  buildFacts,
  databaseNow,
  findExpired,
  findKeyHolders,
  findSealingKeys,
  findMissing,
  readDatabaseHealth,
  readDeadLetters,
  findOverduePartitions,
  readLedgerAudit,
  readServerClock,
  type PartitionRange,
} from '@svc/store';
import type { Command } from 'commander';
import { type CommandOptions, describeCommand } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { checkKeys } from '../doctor/check-keys.ts';
import { checkPostgres } from '../doctor/check-postgres.ts';
import { checkRedis } from '../doctor/check-redis.ts';
import { checkServices } from '../doctor/check-services.ts';
import { checkWork } from '../doctor/check-work.ts';
import type { Deployment, Finding } from '../doctor/finding.ts';
import { bold, green, print, printJson, red, yellow } from '../output.ts';
import { tryRedis } from '../redis.ts';
import { plainText } from '../table.ts';
import { isHeard } from './service-status.ts';

/** `svc doctor` (CONTRACT 9). */
export function addDoctorCommand(command: Command): void {
  describeCommand(command, {
    does: 'check the deployment and say what to do; exit code 1 if there is a fault',
    examples: ['svc doctor', 'svc doctor --json'],
  }).action((options: CommandOptions) => withContext((context) => doctor(context, options)));
}

async function doctor(context: Context, options: CommandOptions): Promise<void> {
  const findings = findingsOf(await readDeployment(context));
  if (findings.some(({ state }) => state === 'fault')) process.exitCode = 1;
  if (options.json === true) return printJson(findings);
  for (const finding of findings) printFinding(finding);
}

export function findingsOf(deployment: Deployment): Finding[] {
  return [
    ...checkServices(deployment),
    checkKeys(deployment),
    ...checkPostgres(deployment),
    ...checkRedis(deployment),
    ...checkWork(deployment),
  ];
}

const marks = { ok: green, warning: yellow, fault: red };

function printFinding({ check, state, found, remedy }: Finding): void {
  print(`${marks[state](state.padEnd(7))}  ${bold(check)}: ${plainText(found)}`);
  if (remedy !== null) print(`         ${remedy}`);
}

/** `askedMs` is this machine's time halfway between the start and the end of `ask`. */
async function timed<T>(ask: () => Promise<T>): Promise<{ value: T; askedMs: number }> {
  const beforeMs = Date.now();
  const value = await ask();
  return { value, askedMs: (beforeMs + Date.now()) / 2 };
}

async function readDeployment(context: Context): Promise<Deployment> {
  const { configuration, store } = context;
  // `databaseNow` comes first and makes sure that a connection is open, because `timed` must
  // measure only the query of `readServerClock`.
  const databaseTime = await databaseNow(store);
  const clock = await timed(() => readServerClock(store));
  const found = await tryRedis(context, async ({ redis, prefix }) => {
    const { value: health, askedMs } = await timed(() => readRedisHealth(redis));
    const services = (await listServices(redis, prefix)).filter(isHeard);
    const cluster = await readClusterHealth(configuration.REDIS_URL ?? '');
    return { health, cluster, askedMs, services };
  });
  const redis = found.kind === 'done' ? found.value : null;
  const missing = await findMissing(store);
  const { count: deadLetters } = await readDeadLetters(store, 1);
  return {
    environment: configuration.SVC_ENVIRONMENT,
    build: buildFacts(),
    databaseUrl: configuration.DATABASE_URL,
    redisUrl: configuration.REDIS_URL,
    databaseClock: { now: clock.value, askedMs: clock.askedMs },
    database: await readDatabaseHealth(store),
    partitionsMissing: missing.map(monthOf),
    ledger: await readLedgerAudit(store),
    keyHolders: await findKeyHolders(store),
    sealingKeys: await findSealingKeys(store),
    databaseTime,
    deadLetters,
    isPurgeLate: await isPurgeLate(context, redis),
    partitionsOverdue: await findOverdue(store, redis),
    redisFault: found.kind === 'away' ? found.fault : undefined,
    redis,
  };
}

/**
 * Returns the partitions whose retention, `usageDays` or `deliveryDays`, ended more than a day ago.
 * Returns null if the running services do not report both numbers.
 */
async function findOverdue(
  store: Context['store'],
  redis: Deployment['redis'],
): Promise<string[] | null> {
  const facts = (redis?.services ?? []).flatMap(({ facts: found }) => found ?? []);
  const usage = facts.flatMap(({ usageDays }) => usageDays ?? []);
  const delivery = facts.flatMap(({ deliveryDays }) => deliveryDays ?? []);
  if (usage.length === 0 || delivery.length === 0) return null;
  const overdue = await findOverduePartitions(store, {
    usageDays: Math.max(...usage) + 1,
    deliveryDays: Math.max(...delivery) + 1,
  });
  return overdue.map(monthOf);
}

const monthOf = ({ table, from }: PartitionRange) => `${table} ${from.toISOString().slice(0, 7)}`;

async function isPurgeLate(
  { store }: Context,
  redis: Deployment['redis'],
): Promise<boolean | null> {
  const days = (redis?.services ?? []).flatMap(({ facts }) => facts?.retentionDays ?? []);
  if (days.length === 0) return null;
  const retentionDays = Math.max(...days) + 1;
  const { candidates } = await findExpired(store, { retentionDays, after: null, limit: 1 });
  return candidates.length > 0;
}
