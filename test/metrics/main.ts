import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { metricsPage } from './table.ts';

/** `pnpm metrics:docs`: writes docs/METRICS.md from the catalogue of metrics. */
const page = path.join(import.meta.dirname, '../../docs/METRICS.md');
writeFileSync(page, metricsPage());
process.stdout.write(`wrote ${path.relative(process.cwd(), page)}\n`);
