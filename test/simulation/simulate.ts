import { randomBytes, randomUUID } from 'node:crypto';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { auditLedger, createNode, createTenant, openStore, type Store } from '@svc/store';
import { Pool } from 'pg';
import { checkHistory, type HistoryReport } from '../history/check.ts';
import type { History } from '../history/history.ts';
import { recordLedger } from '../history/ledger.ts';
import { createRecorder, type Recorder } from '../history/recorder.ts';
import { disagreements, resolveUnknown, sessionsGone } from './audit.ts';
import { Model } from './model.ts';
import { type Operation, simulationAuthor } from './operations.ts';
import { createRandom, type Random } from './random.ts';
import { recordsOfOperation } from './record.ts';
import { createSchedule } from './schedule.ts';
import { type Ended, startWorker, type Worker } from './workers.ts';

export interface SimulationOptions {
  /** The URL of a migrated, empty database, for the services' role. */
  readonly databaseUrl: string;
  /** The URL of the same database for its owner, who cuts connections. */
  readonly ownerUrl: string;
  readonly operations: number;
  /** The same seed gives almost the same operations and crashes, but not the same interleaving. */
  readonly seed: number;
  readonly onChecked?: (done: number) => void;
  readonly onHistory?: (history: History) => Promise<void>;
}

export interface SimulationReport {
  readonly operations: number;
  readonly unknown: number;
  readonly kills: number;
  readonly cuts: number;
  readonly checks: number;
  readonly submissions: number;
  /**
   * Empty if the database agrees with the model, the audit of the ledger finds no fault, and the
   * history violates no guarantee.
   */
  readonly faults: readonly string[];
  readonly history: HistoryReport;
}

const tenantsCount = 50;
const nodesCount = 4;
const inFlight = 32;
const workersCount = 2;
const checkEvery = 1_000;
const killEvery = 2_500;
const cutEvery = 700;
const openingMicros = 5_000_000_000n;
const rebateMillionths = 12_345;

/**
 * Performs operations in worker processes, kills workers and cuts connections. After each
 * `checkEvery` operations, the database must agree with a model.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const { databaseUrl, ownerUrl } = options;
  const masterKey = `simulation:${randomBytes(32).toString('base64')}`;
  const pool = new Pool({ connectionString: ownerUrl, max: 4 });
  // Ignore errors of idle connections, because the server may stop while the last of them close.
  pool.on('error', () => {});
  const store = openStore({
    databaseUrl,
    sealer: createSealer(openKeyring(masterKey)),
    newId,
    poolMax: 4,
  });
  const env = { DATABASE_URL: databaseUrl, SVC_MASTER_KEY: masterKey };
  const workers = Array.from({ length: workersCount }, () => startWorker(randomUUID(), env));
  try {
    const model = new Model();
    const { tenantIds, nodeIds } = await provision(store, pool, model);
    const random = createRandom(options.seed);
    const schedule = createSchedule(random, model, { tenantIds, nodeIds });
    const recorder = createRecorder();
    const run = {
      recorder,
      options,
      pool,
      model,
      random,
      workers,
      env,
      next: () => schedule.next(),
    };
    const counts = await runAll(run);
    const { faults } = await auditLedger(store);
    await recordLedger(recorder, pool, { tenant: asIs, submission: asIs, line: asIs });
    await options.onHistory?.(recorder.history());
    const history = checkHistory(recorder.history());
    const audited = faults.map(({ kind, subject }) => `${subject}: ${kind}`);
    return {
      ...counts,
      submissions: model.submissions.size,
      faults: [...counts.faults, ...audited, ...history.violations],
      history,
    };
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()));
    await store.close();
    await pool.end();
  }
}

const asIs = (id: string): string => id;

interface Run {
  readonly recorder: Recorder;
  readonly options: SimulationOptions;
  readonly pool: Pool;
  readonly model: Model;
  readonly random: Random;
  readonly workers: Worker[];
  readonly env: NodeJS.ProcessEnv;
  readonly next: () => Operation;
}

type Counts = Omit<SimulationReport, 'submissions' | 'history'>;

async function runAll(run: Run): Promise<Counts> {
  const { options, pool, model } = run;
  const counts = { operations: 0, unknown: 0, kills: 0, cuts: 0, checks: 0 };
  while (counts.operations < options.operations) {
    const size = Math.min(checkEvery, options.operations - counts.operations);
    const unknown = await runBlock(run, size, counts);
    counts.unknown += unknown.length;
    // Nothing is in flight after a block. The rows therefore show which operations of `unknown`
    // took effect.
    for (const operation of unknown) await resolveUnknown(pool, model, operation);
    const faults = await disagreements(pool, model);
    counts.checks += 1;
    if (faults.length > 0) return { ...counts, faults };
    options.onChecked?.(counts.operations);
  }
  return { ...counts, faults: [] };
}

/** Returns the operations whose outcome is unknown. */
async function runBlock(
  run: Run,
  size: number,
  counts: { operations: number; kills: number; cuts: number },
): Promise<Operation[]> {
  const unknown: Operation[] = [];
  let started = 0;
  const lane = async (): Promise<void> => {
    while (started < size) {
      started += 1;
      counts.operations += 1;
      const operation = run.next();
      const index = run.random.nat(run.workers.length);
      if (counts.operations % killEvery === 0) {
        counts.kills += 1;
        replaceWorker(run, index);
      }
      if (counts.operations % cutEvery === 0) {
        counts.cuts += 1;
        await cutOne(run, index);
      }
      const beginMs = run.recorder.nowMs();
      const ended = await run.workers[index]?.perform(operation);
      record(run.recorder, operation, ended, beginMs);
      if (ended?.kind === 'answered') run.model.learn(operation, ended.outcome);
      else unknown.push(operation);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  await Promise.all(replacing.splice(0));
  return unknown;
}

function record(
  recorder: Recorder,
  operation: Operation,
  ended: Ended | undefined,
  beginMs: number,
): void {
  const outcome = ended?.kind === 'answered' ? ended.outcome : undefined;
  const interval = { beginMs, endMs: recorder.nowMs() };
  for (const one of recordsOfOperation(operation, outcome, interval)) recorder.add(one);
}

/**
 * One promise for each worker that was killed in the current call of `runBlock`. The promise
 * resolves when the worker's sessions in Postgres are gone.
 */
const replacing: Promise<void>[] = [];

function replaceWorker({ workers, pool, env }: Run, index: number): void {
  const old = workers[index];
  workers[index] = startWorker(randomUUID(), env);
  if (old === undefined) return;
  replacing.push(old.kill().then(() => sessionsGone(pool, old.name)));
}

/**
 * Cuts one connection of the worker, if the worker has any. An operation may be using that
 * connection.
 */
async function cutOne({ pool, workers }: Run, index: number): Promise<void> {
  await pool.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 LIMIT 1',
    [workers[index]?.name],
  );
}

async function provision(
  store: Store,
  pool: Pool,
  model: Model,
): Promise<{ tenantIds: string[]; nodeIds: string[] }> {
  const tenantIds = Array.from({ length: tenantsCount }, () => newId());
  for (const id of tenantIds) {
    await createTenant(
      store,
      {
        id,
        name: 'simulated',
        allowedJobTypes: [],
        webhookUrl: null,
        hmacSecret: 'hsk_test_simulated',
        webhookSecret: 'whsec_c2ltdWxhdGVk',
      },
      openingMicros,
      simulationAuthor,
    );
    model.tenants.set(id, {
      id,
      grantedMicros: openingMicros,
      rebatePaidMicros: 0n,
      rebateMillionths: BigInt(rebateMillionths),
    });
  }
  await pool.query('UPDATE tenants SET rebate_millionths = $1', [rebateMillionths]);
  const nodeIds = Array.from({ length: nodesCount }, () => newId());
  for (const id of nodeIds)
    await createNode(store, { id, name: 'simulated', secret: 'nsk_1' }, simulationAuthor);
  return { tenantIds, nodeIds };
}
