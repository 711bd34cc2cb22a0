import path from 'node:path';
import { parseArgs } from 'node:util';
import { runReported } from '../support/reported-run.ts';

/**
 * `pnpm growth [--months N]`: runs N months of traffic on a clock that the test moves. The last
 * line of the output is the verdict.
 */
const { values } = parseArgs({ options: { months: { type: 'string', default: '12' } } });
const file = path.join(import.meta.dirname, 'growth.test.ts');
const env = { GROWTH_MONTHS: values.months };
const { status, report } = runReported(file, 'GROWTH_REPORT', { env });
process.stdout.write(report === '' ? 'growth: the run ended without a verdict: FAILED\n' : report);
process.exitCode = status;
