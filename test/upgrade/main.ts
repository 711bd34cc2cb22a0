import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

/**
 * `pnpm upgrade:services [--from COMMIT]`: the rolling upgrade from a former commit under load, and
 * all migrations from the schema of the first release.
 */
const { values } = parseArgs({ options: { from: { type: 'string' } } });
if (values.from !== undefined) {
  const commit = `${values.from}^{commit}`;
  if (spawnSync('git', ['rev-parse', '--verify', '--quiet', commit]).status !== 0) {
    process.stderr.write(
      `There is no commit ${values.from}. Pass the name of a commit as --from.\n`,
    );
    process.exit(2);
  }
}
const dir = mkdtempSync(path.join(tmpdir(), 'svc-upgrade-report-'));
const file = path.join(dir, 'report');
const from = values.from === undefined ? {} : { UPGRADE_FROM: values.from };
const { status } = spawnSync(
  'vitest',
  ['run', '--disableConsoleIntercept', path.join(import.meta.dirname, 'upgrade.test.ts')],
  { stdio: 'inherit', env: { ...process.env, ...from, UPGRADE_LONG: '1', UPGRADE_REPORT: file } },
);
// If vitest fails early, it writes no report.
const lines = existsSync(file) ? readFileSync(file, 'utf8') : '';
rmSync(dir, { recursive: true });
process.stdout.write(lines);
const verdict = status === 0 ? 'no error, no changed outcome' : 'FAILED';
const skipped = /^skipped: (.*)$/m.exec(lines)?.[1];
process.stdout.write(`upgrade: ${skipped === undefined ? verdict : `skipped, ${skipped}`}\n`);
process.exitCode = status ?? 1;
