import { runGrowth } from './growth.ts';
import { options } from './options.ts';
import { Report } from './report/report.ts';
import { runUsual } from './usual.ts';

/**
 * `pnpm bench`: measures the whole stack and the baseline in turns. Each has a separate Postgres
 * and a separate Redis, with fsync on. With `--seed-rows`, the command instead measures a stack
 * with many rows and a stack with few rows. docs/PERFORMANCE.md explains options and output.
 */
const report = new Report();
if (options.seedRows > 0) await runGrowth(report);
else await runUsual(report);
report.end();
