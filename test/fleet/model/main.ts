import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres, startRedis } from '@svc/local';
import { migrate } from '@svc/store';
import { Client } from 'pg';
import { checkFleet } from './property.ts';
import { openRig } from './rig.ts';

/**
 * `pnpm fleet:model`: drives the dispatcher's logic with random sequences of commands. Prints a
 * violation with the options that repeat it.
 */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    path: { type: 'string' },
    shrink: { type: 'boolean', default: false },
  },
});
const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-fleet-model-'));
const postgres = await startPostgres({ dir, durable: false, connectionsMax: 40 });
const redis = await startRedis({ dir, durable: false });
try {
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query('CREATE DATABASE fleet_model');
  await admin.end();
  const ownerUrl = postgres.databaseUrl('fleet_model');
  const databaseUrl = postgres.serviceUrl('fleet_model');
  const migrated = await migrate(ownerUrl, databaseUrl);
  if (migrated.kind === 'refused') throw new Error(migrated.reason);
  const masterKey = `model:${randomBytes(32).toString('base64')}`;
  const rig = await openRig({ databaseUrl, ownerUrl, redisUrl: redis.url, masterKey });
  const startedMs = performance.now();
  const report = await checkFleet({
    rig,
    runs: Number(values.runs),
    seed: Number(values.seed),
    shrinks: values.shrink,
    ...(values.path === undefined ? {} : { path: values.path }),
    onRun(done) {
      if (done % 100 === 0) process.stdout.write(`${done} runs\n`);
    },
  });
  await rig.close();
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  if (report.fault !== undefined) process.stdout.write(`${report.fault}\n`);
  const seen = [...report.seen].map(([name, count]) => `${name} ${count}`).toSorted();
  const { runs, commands, submissions, executed, fault } = report;
  process.stdout.write(`${seen.join(', ')}\n`);
  process.stdout.write(
    `${runs} runs, ${commands} commands, ${submissions} submissions, ${executed} executed, ` +
      `in ${seconds} s, seed ${values.seed}: ${fault === undefined ? 'no violation' : 'VIOLATION'}\n`,
  );
  process.exitCode = fault === undefined ? 0 : 1;
} finally {
  await redis.stop();
  await postgres.stop();
  rmSync(dir, { recursive: true, force: true });
}
