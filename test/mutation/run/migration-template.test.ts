import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { expect, inject, it } from 'vitest';
import { makeMutatedTemplate } from './migration-template.ts';
import { checkout } from './test-files.ts';

const file = 'prisma/migrations/20261120000000_init/migration.sql';
const text = readFileSync(path.join(checkout, file), 'utf8');
const check = 'balance_micros < 1000000000000000';

it('makes a template with a weaker check, which the services accept', async () => {
  const servers = inject('testServers');
  const made = await makeMutatedTemplate(servers, { file, text: text.replace(check, 'true') });
  if (made.kind !== 'made') throw new Error(`the template is ${made.kind}`);
  const admin = new Client({ connectionString: servers.adminUrl });
  await admin.connect();
  const { rows } = await admin.query('SELECT datistemplate FROM pg_database WHERE datname = $1', [
    made.servers.template,
  ]);
  expect(rows).toStrictEqual([{ datistemplate: true }]);
  await made.drop();
  await admin.end();
});

it('reports an unchanged final schema, and a migration that Postgres refuses', async () => {
  const servers = inject('testServers');
  const same = await makeMutatedTemplate(servers, { file, text: `${text}\nSELECT 1;` });
  expect(same.kind).toBe('same_schema');
  const refused = await makeMutatedTemplate(servers, { file, text: `${text}\nSELEKT 1;` });
  expect(refused.kind).toBe('refused');
});
