import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { prometheusPrograms } from '@svc/local';
import { stringify } from 'yaml';
import { boards } from './boards.ts';
import { dashboardFiles, dashboardsDir } from './dashboards.ts';
import { promtoolTests } from './promtool-tests.ts';
import { readRules, ruleFiles } from './rules.ts';
import { checkRunbookCommands } from './runbook-commands.ts';

/**
 * `pnpm alerts`: tests the alert rules with promtool, writes and checks the dashboards, and checks
 * the commands in the runbooks. The last line is the verdict.
 */
const say = (line: string) => void process.stdout.write(`${line}\n`);
const { promtool } = await prometheusPrograms(() =>
  say('fetching Prometheus from Debian packages'),
);
const dir = mkdtempSync(path.join(tmpdir(), 'svc-alerts-'));
let faults = 0;

function run(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8' });
  say(`${stdout}${stderr}`.trim());
  if (status !== 0) faults += 1;
}

let count = 0;
const queries = boards.flatMap(({ panels }) =>
  panels.flatMap(([, panel]) => Object.values(panel.queries)),
);
for (const [name, text] of dashboardFiles()) writeFileSync(path.join(dashboardsDir, name), text);
try {
  run('check', 'rules', ...ruleFiles);
  for (const tests of promtoolTests(ruleFiles)) {
    const file = path.join(dir, `${tests.name}.yml`);
    writeFileSync(file, tests.text);
    run('test', 'rules', file);
    count += tests.count;
  }
  const file = path.join(dir, 'queries.yml');
  const rules = queries.map((expr) => ({ record: 'dashboard:query', expr }));
  writeFileSync(file, stringify({ groups: [{ name: 'dashboards', rules }] }));
  run('check', 'rules', '--lint=none', file);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
const commands = await checkRunbookCommands();
for (const line of commands.unknown)
  say(`a runbook names a command or an option that svc does not have: ${line}`);
faults += commands.unknown.length;
const alerts = readRules().filter(({ alert }) => alert !== undefined).length;
say(
  `${faults === 0 ? 'held' : 'BROKEN'}: ${alerts} alerts, ${count} tests of alerts, ${queries.length} queries of ${boards.length} dashboards, ${commands.count} commands of runbooks, ${faults} faults`,
);
process.exitCode = faults === 0 ? 0 : 1;
