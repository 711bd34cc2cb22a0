import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defaultRateCardJson } from '@svc/domain';
import {
  bareEnvironment,
  createTestDatabase,
  type Ran,
  runSvc,
  testMasterKey,
  type TestDatabase,
} from '@svc/testkit';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  return () => database.close();
});

function svc(...words: string[]): Promise<Ran> {
  return runSvc(words, {
    ...bareEnvironment(),
    DATABASE_URL: database.databaseUrl,
    SVC_MASTER_KEY: testMasterKey(),
  });
}

async function record(...words: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await svc(...words, '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

test('a card that equals the default card can be put in force for one tenant', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-card-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const tenantId = String((await record('tenant', 'create', '--name', 'Acme'))['tenantId']);
  const apply = async (card: object, ...more: string[]) => {
    const file = path.join(directory, 'card.json');
    writeFileSync(file, JSON.stringify(card));
    return record('rate-card', 'apply', file, ...more);
  };
  const before = await record('rate-card', 'show');
  await apply(before, '--tenant', tenantId);
  await apply({ ...defaultRateCardJson, usdPerCredit: '0.02' });
  expect(await record('rate-card', 'show')).toMatchObject({ usdPerCredit: 0.02 });
  const { usdPerCredit } = before;
  expect(await record('rate-card', 'show', '--tenant', tenantId)).toMatchObject({ usdPerCredit });
});

test('the secrets of a new tenant are shown, even if the tenant cannot be read again', async () => {
  // Creating a tenant also renames a table that only later reads need.
  await database.query(`CREATE FUNCTION hide() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
    $$ BEGIN ALTER TABLE public.webhook_caps RENAME TO away; RETURN NULL; END $$`);
  await database.query(
    'CREATE TRIGGER hide AFTER INSERT ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION hide()',
  );
  expect(await record('tenant', 'create', '--name', 'Acme')).toMatchObject({
    tenantId: expect.stringMatching(/^tnt_/),
    hmacSecret: expect.stringMatching(/^hsk_test_/),
  });
});

test('a time that no date can have is wrong usage', async () => {
  for (const words of [
    ['audit', 'list'],
    ['webhook', 'recover'],
    ['submission', 'list'],
  ])
    expect((await svc(...words, '--since', '999999999d')).code).toBe(2);
});
