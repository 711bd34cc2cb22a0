import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  adminCliEntry,
  checkoutDir,
  redisBinary,
  serviceNames,
  startPostgres,
  startRedis,
} from '@svc/local';
import { Client } from 'pg';
import { readRunbooks } from './blocks.ts';

/**
 * `pnpm runbooks [N...]`: runs the code blocks of docs/OPERATIONS.md that are marked `sh runbook`,
 * against a deployment on this machine. N selects blocks, counted from 1.
 */
const chosen = process.argv.slice(2).map(Number);
const dir = mkdtempSync(path.join(tmpdir(), 'svc-runbooks-'));
const at = (...names: string[]) => path.join(dir, ...names);
for (const name of ['bin', 'state', 'releases']) mkdirSync(at(name));
const [postgres, redis] = await Promise.all([
  startPostgres({ dir: at('postgres'), durable: true, connectionsMax: 100 }),
  startRedis({ dir: at('redis'), durable: true }),
]);
const admin = new Client({ connectionString: postgres.url });
await admin.connect();
await admin.query('CREATE DATABASE svc');

writeFileSync(
  at('environment'),
  [
    'SVC_ENVIRONMENT=sandbox',
    `DATABASE_URL=${postgres.serviceUrl('svc')}`,
    `REDIS_URL=${redis.url}`,
    `SVC_MASTER_KEY=2026:${randomBytes(32).toString('base64')}`,
    '',
  ].join('\n'),
);
for (const name of ['old', 'new', 'current']) symlinkSync(checkoutDir, at('releases', name));
const tool = (name: string, text: string) => {
  writeFileSync(at('bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(at('bin', name), 0o755);
};
tool('svc', `exec node "${adminCliEntry}" "$@"`);
tool('systemctl', `exec "${path.join(import.meta.dirname, 'systemctl.sh')}" "$@"`);
// `restore-postgres` replaces the deployment's tool that restores a backup.
tool(
  'restore-postgres',
  `exec psql "$POSTGRES_URL" -qc 'DROP DATABASE svc WITH (FORCE)' -c 'CREATE DATABASE svc TEMPLATE svc_backup'`,
);
const { file, env: redisEnv } = await redisBinary();
const redisVariables = Object.entries(redisEnv ?? {}).map(
  ([name, value]) => `${name}='${value ?? ''}'`,
);
const redisCli = path.join(path.dirname(file), 'redis-cli');
tool('redis-cli', `exec env ${redisVariables.join(' ')} ${redisCli} "$@"`);

const environment = {
  ...process.env,
  PATH: `${at('bin')}:${process.env['PATH'] ?? ''}`,
  SVC_ENV: at('environment'),
  SVC_RELEASES: at('releases'),
  RUNBOOK_STATE: at('state'),
  OWNER_URL: postgres.databaseUrl('svc'),
  POSTGRES_URL: postgres.url,
  OLD: 'old',
  NEW: 'new',
};

/** Runs a block of commands. The first command that fails ends the block. */
function run(
  commands: string,
  more: Record<string, string> = {},
): { failed: boolean; output: string } {
  const script = `set -euo pipefail\nset -a; . "$SVC_ENV"; set +a\n${commands}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-xc', script], {
    encoding: 'utf8',
    env: { ...environment, ...more },
    timeout: 420_000,
  });
  return { failed: status !== 0, output: `${stdout}${stderr}` };
}

const units = serviceNames.map((name) => `svc-${name}@1`).join(' ');
const idOf = (words: string, member: string) =>
  new RegExp(`"${member}": "([^"]+)"`, 'u').exec(run(`svc ${words} --json`).output)?.[1] ?? '';
const faults: string[] = [];
let ran = 0;
try {
  const migrated = run('MIGRATION_DATABASE_URL="$OWNER_URL" svc migrate');
  if (migrated.failed) throw new Error(migrated.output);
  const ids = {
    TENANT: idOf('tenant create --name Works --grant 500', 'tenantId'),
    NODE: idOf('node create --name attic', 'nodeId'),
    OPERATOR: idOf('operator create --name Ana', 'operatorId'),
  };
  await admin.query('CREATE DATABASE svc_backup TEMPLATE svc');
  run(`systemctl start ${units}`);
  const runbooks = readRunbooks(path.join(checkoutDir, 'docs/OPERATIONS.md'));
  for (const [index, { task, commands }] of runbooks.entries()) {
    if (chosen.length > 0 && !chosen.includes(index + 1)) continue;
    const startedMs = performance.now();
    const { failed, output } = run(commands, ids);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
    ran += 1;
    process.stdout.write(`${failed ? 'FAILED' : 'ran'} in ${seconds} s: ${task}\n`);
    if (failed) faults.push(task);
    if (failed) process.stdout.write(`${output}\n`);
  }
} finally {
  run(
    `systemctl stop ${globSync('*.pid', { cwd: at('state') })
      .map((name) => name.replace('.pid', ''))
      .join(' ')}`,
  );
  await admin.end();
  await redis.stop();
  await postgres.stop();
  if (faults.length > 0)
    for (const log of globSync('*.log', { cwd: at('state') }))
      process.stdout.write(`${log}: ${readFileSync(at('state', log), 'utf8').slice(-2_000)}\n`);
  rmSync(dir, { recursive: true, force: true });
}
if (ran === 0) faults.push(`docs/OPERATIONS.md has no runbook block ${chosen.join(', ')}`);
process.stdout.write(
  `runbooks: ${faults.length === 0 ? 'all ran as written' : `FAILED: ${faults.join('; ')}`}. ${ran} blocks, ${Math.max(0, ran - faults.length)} without an error\n`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
