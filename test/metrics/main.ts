import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { metricsPage } from './table.ts';

/** The page that `pnpm metrics:docs` writes from the catalogue of metrics. */
const page = path.join(import.meta.dirname, '../../docs/METRICS.md');
writeFileSync(page, metricsPage());
process.stdout.write(`wrote ${path.relative(process.cwd(), page)}\n`);
