import { runGrowth } from './growth.ts';
import { options } from './options.ts';
import { Report } from './report/report.ts';
import { runUsual } from './usual.ts';

/**
 * `pnpm bench`: the whole stack and the baseline, each on its own Postgres and Redis with fsync on,
 * driven in turns by a separate process. docs/PERFORMANCE.md explains options and output. The run
 * ends with a table of the goals, and the last line counts them.
 */
const report = new Report();
if (options.seedRows > 0) await runGrowth(report);
else await runUsual(report);
report.end();
