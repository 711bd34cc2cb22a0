import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres, startRedis } from '@svc/local';
import { migrate } from '@svc/store';
import { Client } from 'pg';
import { runOne, type RunReport } from './run.ts';
import { openRig, type Rig } from './world/rig.ts';

const connectionsMax = 100;
const traceLinesMax = 400;
/** State directories of agents are synced to disk with each write; memory does as well here. */
const memoryDir = '/dev/shm';

interface Servers {
  readonly rig: Rig;
  readonly stateDir: string;
  close(): Promise<void>;
}

interface Given {
  /** A superuser's way into a Postgres server; without it the command starts one. */
  readonly postgres: string | undefined;
  /** A Redis that nobody else uses; without it the command starts one. */
  readonly redis: string | undefined;
}

async function openServers(given: Given): Promise<Servers> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-interleaving-'));
  const stateDir = mkdtempSync(
    path.join(existsSync(memoryDir) ? memoryDir : os.tmpdir(), 'svc-interleaving-'),
  );
  const postgres =
    given.postgres === undefined
      ? await startPostgres({ dir, durable: false, connectionsMax })
      : undefined;
  const redis = given.redis === undefined ? await startRedis({ dir, durable: false }) : undefined;
  const adminUrl = postgres?.url ?? given.postgres ?? '';
  const name = `interleaving_${randomBytes(8).toString('hex')}`;
  await asAdmin(adminUrl, `CREATE DATABASE ${name}`);
  const databaseUrl = new URL(adminUrl);
  databaseUrl.pathname = `/${name}`;
  const migrated = await migrate(databaseUrl.href);
  if (migrated.kind === 'refused') throw new Error(migrated.reason);
  const rig = await openRig({
    databaseUrl: databaseUrl.href,
    redisUrl: redis?.url ?? given.redis ?? '',
    masterKey: `interleaving:${randomBytes(32).toString('base64')}`,
  });
  return {
    rig,
    stateDir,
    async close() {
      await rig.close();
      await asAdmin(adminUrl, `DROP DATABASE ${name} WITH (FORCE)`);
      await redis?.stop();
      await postgres?.stop();
      for (const one of [dir, stateDir, postgres?.dataDir])
        if (one !== undefined) rmSync(one, { recursive: true, force: true });
    },
  };
}

async function asAdmin(url: string, sql: string): Promise<void> {
  const admin = new Client({ connectionString: url });
  await admin.connect();
  await admin.query(sql);
  await admin.end();
}

/**
 * `pnpm interleave --runs N --seed S [--steps N]`: runs with the seeds S, S + 1, …, until one has a
 * violation. Prints the trace of that one. Resolves with the exit code.
 */
export async function interleave(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '200' },
      seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
      steps: { type: 'string', default: '250' },
      hashes: { type: 'boolean', default: false },
      trace: { type: 'boolean', default: false },
      'keep-going': { type: 'boolean', default: false },
      postgres: { type: 'string' },
      redis: { type: 'string' },
      // Read by host/hooks.ts, before the product is loaded.
      planted: { type: 'string' },
    },
  });
  const servers = await openServers({
    postgres: values.postgres,
    redis: values.redis,
  });
  const startedMs = performance.now();
  const startedCpu = process.cpuUsage();
  const reports: RunReport[] = [];
  try {
    const first = Number(values.seed);
    for (let seed = first; seed < first + Number(values.runs); seed += 1) {
      const { rig, stateDir } = servers;
      const report = await runOne(rig, { seed, steps: Number(values.steps), stateDir });
      reports.push({ ...report, trace: [] });
      if (values.hashes) print(`${seed} ${report.hash}`);
      if (report.violations.length > 0) show(report);
      else if (values.trace) for (const line of report.trace) print(line);
      if (report.violations.length > 0 && !values['keep-going']) break;
    }
  } finally {
    await servers.close();
  }
  const { user, system } = process.cpuUsage(startedCpu);
  print(
    `${Math.round((user + system) / 1_000 / reports.length)} ms of CPU a run, without Postgres`,
  );
  return verdict(reports, performance.now() - startedMs);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function show({ seed, violations, trace }: RunReport): void {
  for (const line of trace.slice(-traceLinesMax)) print(line);
  for (const violation of violations) print(`seed ${seed}: ${violation}`);
}

function verdict(reports: readonly RunReport[], tookMs: number): number {
  const sum = (valueOf: (report: RunReport) => number): number =>
    reports.reduce((total, report) => total + valueOf(report), 0);
  const ended = new Map<string, number>();
  for (const report of reports)
    for (const [state, count] of report.ended) ended.set(state, (ended.get(state) ?? 0) + count);
  const violated = reports.filter(({ violations }) => violations.length > 0);
  const perMinute = Math.round((reports.length * 60_000) / tookMs);
  print(
    `${sum(({ submissions }) => submissions)} submissions: ${[...ended]
      .map(([state, count]) => `${count} ${state}`)
      .toSorted()
      .join(', ')}; ` +
      `${sum(({ executed }) => executed)} executed, ${sum(({ lockWaits }) => lockWaits)} waits for a lock`,
  );
  print(
    `${reports.length} runs, ${sum(({ steps }) => steps)} steps, ${perMinute} runs a minute, ` +
      `${violated.length} violations${violated.map(({ seed }) => ` (seed ${seed})`).join('')}`,
  );
  return violated.length === 0 ? 0 : 1;
}
