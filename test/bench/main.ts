import { runGrowth } from './growth.ts';
import { options } from './options.ts';
import { Report } from './report/report.ts';
import { runUsual } from './usual.ts';

/**
 * `pnpm bench` (docs/PERFORMANCE.md): measures the product and the baseline in turns. With
 * `--seed-rows`, measures the product with many rows and with few.
 */
const report = new Report();
if (options.seedRows > 0) await runGrowth(report);
else await runUsual(report);
report.end();
