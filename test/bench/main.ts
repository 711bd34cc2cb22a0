import { runGrowth } from './growth.ts';
import { options } from './options.ts';
import { Report } from './report/report.ts';
import { runUsual } from './usual.ts';

/**
 * `pnpm bench`: the whole stack and the floor side by side, each on a Postgres and a Redis of its
 * own with fsync on, driven in turns by a process of its own. What it takes and prints is in
 * docs/PERFORMANCE.md; the last line is the ratios, which another machine can repeat.
 */
const report = new Report();
if (options.seedRows > 0) await runGrowth(report);
else await runUsual(report);
report.end();
