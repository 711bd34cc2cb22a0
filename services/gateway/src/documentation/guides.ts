import { readFileSync } from 'node:fs';
import path from 'node:path';
import { guidesPath } from '@svc/contracts';

export interface Guide {
  readonly slug: string;
  readonly path: string;
  readonly title: string;
  readonly source: string;
}

/**
 * A placeholder in the Markdown. It stands for the address at which the reader reached the service.
 */
export const baseUrlShown = 'https://svc.example.com';

/**
 * The names of the guides, in the order of reading. Each file is `guides/<slug>.md` in the package
 * of the gateway.
 */
const slugs = [
  'quick-start',
  'signing',
  'idempotency',
  'money',
  'webhooks',
  'errors',
  'sandbox',
  'going-live',
] as const;

const directory = path.resolve(import.meta.dirname, '../../guides');

export const guides: readonly Guide[] = slugs.map((slug) => {
  const source = readFileSync(path.join(directory, `${slug}.md`), 'utf8');
  const [, title = slug] = /^# (.+)$/m.exec(source) ?? [];
  return { slug, path: `${guidesPath}/${slug}`, title, source };
});
