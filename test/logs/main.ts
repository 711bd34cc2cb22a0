import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { logsPage } from './page.ts';

/** `pnpm logs:docs`: writes docs/LOGS.md from the catalogues of events. */
const page = path.join(import.meta.dirname, '../../docs/LOGS.md');
writeFileSync(page, logsPage());
process.stdout.write(`wrote ${path.relative(process.cwd(), page)}\n`);
