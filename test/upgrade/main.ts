import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runReported } from '../support/reported-run.ts';

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
const file = path.join(import.meta.dirname, 'upgrade.test.ts');
const from = values.from === undefined ? {} : { UPGRADE_FROM: values.from };
const { status, report } = runReported(file, 'UPGRADE_REPORT', {
  words: ['--disableConsoleIntercept'],
  env: { ...from, UPGRADE_LONG: '1' },
});
process.stdout.write(report);
const verdict = status === 0 ? 'no error, no changed outcome' : 'FAILED';
const skipped = /^skipped: (.*)$/m.exec(report)?.[1];
process.stdout.write(`upgrade: ${skipped === undefined ? verdict : `skipped, ${skipped}`}\n`);
process.exitCode = status;
