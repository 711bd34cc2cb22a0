import { runGrowth } from './growth.ts';
import { options } from './options.ts';
import { Report } from './report/report.ts';
import { runUsual } from './usual.ts';

/**
 * `pnpm bench`: measures the whole stack and the baseline in turns, each on its own Postgres and
 * Redis with fsync on. With `--seed-rows`, it measures a stack with many rows and one with few
 * rows instead. A separate process sends the load. docs/PERFORMANCE.md explains options and
 * output. The run ends with a table of the goals. The last line counts the goals.
 */
const report = new Report();
if (options.seedRows > 0) await runGrowth(report);
else await runUsual(report);
report.end();
