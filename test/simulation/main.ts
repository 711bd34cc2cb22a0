import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '@svc/local';
import { migrate } from '@svc/store';
import { Client } from 'pg';
import { describeHistory } from '../history/check.ts';
import { saveHistory } from '../history/recorder.ts';
import { simulate } from './simulate.ts';

/**
 * `pnpm simulate [--ops N] [--seed S] [--history FILE]`: the simulation with N operations, by
 * default 200,000.
 */
const { values } = parseArgs({
  options: {
    ops: { type: 'string', default: '200000' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    history: { type: 'string' },
  },
});
const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-simulation-'));
const postgres = await startPostgres({ dir, durable: false, connectionsMax: 80 });
try {
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query('CREATE DATABASE simulation');
  await admin.end();
  const ownerUrl = postgres.databaseUrl('simulation');
  const databaseUrl = postgres.serviceUrl('simulation');
  const migrated = await migrate(ownerUrl, databaseUrl);
  if (migrated.kind === 'refused') throw new Error(migrated.reason);
  const startedMs = performance.now();
  const report = await simulate({
    databaseUrl,
    ownerUrl,
    operations: Number(values.ops),
    seed: Number(values.seed),
    async onHistory(history) {
      if (values.history !== undefined) await saveHistory(values.history, history);
    },
    onChecked(done) {
      if (done % 10_000 === 0) process.stdout.write(`${done} operations, all as in the model\n`);
    },
  });
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  for (const fault of report.faults.slice(0, 50)) process.stdout.write(`${fault}\n`);
  const { operations, submissions, kills, cuts, unknown, checks, faults } = report;
  process.stdout.write(
    `${operations} operations on ${submissions} submissions in ${seconds} s, seed ${values.seed}: ` +
      `${kills} workers killed, ${cuts} connections cut, ${unknown} outcomes unknown, ${checks} checks, ${faults.length} faults; ${describeHistory(report.history)}\n`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await postgres.stop();
  rmSync(dir, { recursive: true, force: true });
}
