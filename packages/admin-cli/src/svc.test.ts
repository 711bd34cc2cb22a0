import os from 'node:os';
import { toWireId } from '@svc/domain';
import {
  bareEnvironment,
  createTestDatabase,
  runSvc,
  runSvcProcess,
  testMasterKey,
} from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const deadId = '019ab000-0000-7000-8000-00000000dead';
let database: Awaited<ReturnType<typeof createTestDatabase>>;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

function environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...bareEnvironment(),
    DATABASE_URL: database.databaseUrl,
    SVC_MASTER_KEY: testMasterKey(),
    ...env,
  };
}

const svc = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runSvc(words, environment(env));

const svcProcess = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runSvcProcess(words, environment(env));

async function record(...words: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await svc([...words, '--json']);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

test('a sandbox tenant is shown its secrets once and gets the opening grant', async () => {
  const created = await record('tenant', 'create', '--name', 'Example Works');
  expect(created).toMatchObject({
    tenantId: expect.stringMatching(/^tnt_/),
    hmacSecret: expect.stringMatching(/^hsk_test_/),
    webhookSecret: expect.stringMatching(/^whsec_/),
    allowedJobTypes: ['ats.application'],
    balance: 10_000,
  });
  const shown = await record('tenant', 'show', String(created['tenantId']));
  expect(shown).not.toHaveProperty('hmacSecret');
  const { stdout } = await svcProcess(['tenant', 'list']);
  expect(stdout).toContain(String(created['tenantId']));
});

test.each([
  ['tenant', 'tenantId'],
  ['node', 'nodeId'],
])('svc %s list --before continues a list behind its last line', async (noun, key) => {
  const older = String((await record(noun, 'create', '--name', 'older'))[key]);
  const newer = String((await record(noun, 'create', '--name', 'newer'))[key]);
  const { stdout } = await svc([noun, 'list', '--json', '--before', newer]);
  const [first] = JSON.parse(stdout);
  expect(first).toMatchObject({ [key]: older });
});

test('no secret is stored in the database in plain text', async () => {
  const { hmacSecret, webhookSecret } = await record('tenant', 'create', '--name', 'Sealed');
  const { nodeSecret } = await record('node', 'create', '--name', 'attic');
  const rows = await database.query<{ all: string }>(
    `SELECT string_agg(encode(sealed, 'escape'), '') AS all FROM (
       SELECT sealed FROM tenant_secrets UNION ALL SELECT secret_sealed FROM nodes) s`,
  );
  for (const secret of [hmacSecret, webhookSecret, nodeSecret]) {
    expect(rows[0]?.all).not.toContain(String(secret).slice(-20));
  }
});

test('an operator is shown its secret once, has a unique name, and can be disabled', async () => {
  const created = await record('operator', 'create', '--name', 'Ana');
  expect(created).toMatchObject({
    operatorId: expect.stringMatching(/^op_/),
    operatorSecret: expect.stringMatching(/^osk_/),
  });
  const namesake = await svc(['operator', 'create', '--name', 'Ana']);
  expect(namesake).toMatchObject({ code: 1, stderr: expect.stringContaining('has this name') });
  const { operatorId } = created;
  const disabled = await record('operator', 'disable', String(operatorId));
  expect(disabled).toMatchObject({ operatorId, disabledAt: expect.stringMatching(/Z$/) });
  const { stdout } = await svc(['operator', 'list', '--json']);
  expect(JSON.parse(stdout)).toContainEqual(disabled);
});

const production = { SVC_ENVIRONMENT: 'production', WEBHOOK_ALLOW_PRIVATE_NETWORKS: '0' };

test('in production only the creation of the first operator works without an operator', async () => {
  const empty = await createTestDatabase();
  try {
    const env = { ...production, DATABASE_URL: empty.databaseUrl };
    const nobody = await svc(['tenant', 'list'], env);
    expect(nobody).toMatchObject({ code: 1, stdout: '' });
    expect(nobody.stderr).toContain('set SVC_OPERATOR_ID and SVC_OPERATOR_SECRET');
    const create = ['operator', 'create', '--json', '--name'];
    const first = JSON.parse((await svc([...create, 'Ana'], env)).stdout);
    expect(await svc([...create, 'Ben'], env)).toMatchObject({ code: 1, stdout: '' });
    const asAna = {
      ...env,
      SVC_OPERATOR_ID: first.operatorId,
      SVC_OPERATOR_SECRET: first.operatorSecret,
    };
    expect(await svc([...create, 'Ben'], asAna)).toMatchObject({ code: 0 });
    const rows = await empty.query('SELECT actor_kind, actor_id FROM audit_log ORDER BY id');
    expect(rows).toMatchObject([
      { actor_kind: 'local', actor_id: null },
      { actor_kind: 'operator', actor_id: expect.any(String) },
    ]);
    const half = await svc(['tenant', 'list'], { ...asAna, SVC_OPERATOR_SECRET: '' });
    expect(half.stderr).toContain('Set both');
    expect(await svc(['operator', 'disable', first.operatorId], asAna)).toMatchObject({ code: 0 });
    const revoked = await svc(['tenant', 'list'], asAna);
    expect(revoked).toMatchObject({ code: 1, stdout: '' });
    expect(revoked.stderr).toContain('do not match an enabled operator');
  } finally {
    await empty.close();
  }
});

test('a tampered audit log is found, with and without a head printed earlier', async () => {
  const own = await createTestDatabase();
  try {
    const env = { DATABASE_URL: own.databaseUrl };
    const verify = async (...words: string[]) => {
      const { code, stdout } = await svc(['audit', 'verify', '--json', ...words], env);
      return { code, ...JSON.parse(stdout) };
    };
    await svc(['node', 'create', '--name', 'attic'], env);
    await svc(['node', 'create', '--name', 'cellar'], env);
    const { head, ...whole } = await verify();
    expect(whole).toEqual({ code: 0, entries: 2, faults: [] });
    expect(await verify('--head', head)).toMatchObject({ code: 0 });
    const other = `${head.slice(0, -1)}${head.endsWith('0') ? '1' : '0'}`;
    const rewritten = { kind: 'rewritten', entry: null, position: 2 };
    expect(await verify('--head', other)).toMatchObject({ code: 1, faults: [rewritten] });
    await own.query('ALTER TABLE audit_log DISABLE TRIGGER USER');
    await own.query(`UPDATE audit_log SET action = 'node.enable' WHERE id = 1`);
    const changed = { kind: 'changed', entry: 1, position: 1 };
    expect(await verify()).toMatchObject({ code: 1, faults: [changed] });
    const shown = await svcProcess(['audit', 'verify'], env);
    expect(shown).toMatchObject({ code: 1, stdout: expect.stringContaining('1 faults') });
  } finally {
    await own.close();
  }
});

test('only the owner migrates, production needs its URL, and a repeat applies nothing', async () => {
  const asService = await svc(['migrate']);
  expect(asService).toMatchObject({ code: 1, stdout: '' });
  expect(asService.stderr).toMatch(/set MIGRATION_DATABASE_URL/i);
  const unnamed = await svc(['migrate'], production);
  expect(unnamed).toMatchObject({ code: 1, stdout: '' });
  expect(unnamed.stderr).toMatch(/set MIGRATION_DATABASE_URL/i);
  const owner = { ...production, MIGRATION_DATABASE_URL: database.ownerUrl };
  const migrated = await svcProcess(['migrate', '--json'], owner);
  expect(JSON.parse(migrated.stdout)).toEqual({ applied: [] });
});

test('a wrong key is refused in a sandbox too; without a key the local account is named', async () => {
  const { operatorId } = await record('operator', 'create', '--name', 'Wrongly');
  const wrong = { SVC_OPERATOR_ID: String(operatorId), SVC_OPERATOR_SECRET: 'osk_wrong' };
  expect(await svc(['tenant', 'list'], wrong)).toMatchObject({ code: 1, stdout: '' });
  const [row] = await database.query<{
    actor_kind: string;
    actor_name: string;
    request_id: string;
  }>(`SELECT * FROM audit_log WHERE subject_id = $1`, [operatorId]);
  expect(row).toMatchObject({
    actor_kind: 'local',
    actor_name: os.userInfo().username,
    request_id: expect.stringMatching(/^svc-/),
  });
});

test('a rotated operator secret works at once, and the old one stops working', async () => {
  const { operatorId, operatorSecret } = await record('operator', 'create', '--name', 'Turner');
  const env = { SVC_OPERATOR_ID: String(operatorId), SVC_OPERATOR_SECRET: String(operatorSecret) };
  const words = ['operator', 'rotate-secret', String(operatorId), '--json'];
  const rotated = JSON.parse((await svc(words, env)).stdout);
  expect(rotated.operatorSecret).toMatch(/^osk_/);
  expect(await svc(['tenant', 'list'], env)).toMatchObject({ code: 1 });
  const renewed = { ...env, SVC_OPERATOR_SECRET: rotated.operatorSecret };
  expect(await svc(['tenant', 'list'], renewed)).toMatchObject({ code: 0 });
});

test('--grant, --allow and --webhook-url replace the defaults of a new tenant', async () => {
  const none = await record('tenant', 'create', '--name', 'a', '--grant', '0', '--allow', 'none');
  expect(none).toMatchObject({ balance: 0, allowedJobTypes: [] });
  const url = 'https://hooks.example.com/svc';
  const created = await record(
    'tenant',
    'create',
    '--name',
    'b',
    '--grant',
    '0.25',
    '--webhook-url',
    url,
  );
  expect(created).toMatchObject({ balance: 0.25, webhookUrl: url });
});

test('a grant counts once for each reference, and other contents are a conflict', async () => {
  const { tenantId } = await record('tenant', 'create', '--name', 'Payer', '--grant', '0');
  const words = ['credits', 'grant', String(tenantId)];
  const first = await record(...words, '500.5', '--reference', 'INV-1');
  expect(first).toMatchObject({ credits: 500.5, balance: { after: 500.5 } });
  const again = await record(...words, '500.5', '--reference', 'INV-1');
  expect(again).toEqual({ ...first, idempotent: true });
  const conflict = await svc([...words, '600', '--reference', 'INV-1']);
  expect(conflict).toMatchObject({ code: 1, stdout: '' });
  expect(conflict.stderr).toContain('An earlier grant has this reference');
  expect(await record('credits', 'balance', String(tenantId))).toMatchObject({ balance: 500.5 });
});

test('a purchase is reversed once, and the ledger stays correct', async () => {
  const { tenantId } = await record('tenant', 'create', '--name', 'Returner', '--grant', '0');
  const bought = await record('credits', 'grant', String(tenantId), '50', '--reference', 'INV-2');
  const words = ['credits', 'reverse', String(bought['purchaseId'])];
  expect(await record(...words)).toMatchObject({ tenantId, credits: 50 });
  expect(await record(...words)).toMatchObject({ idempotent: true });
  const rebate = await svc(['credits', 'pay-rebate', String(tenantId)]);
  expect(rebate).toMatchObject({ code: 1, stderr: 'The tenant has no accrued rebate to pay.\n' });
  expect(await record('ledger', 'verify')).toMatchObject({ faults: [] });
});

test('wrong usage exits with 2, a refusal with 1, and both say what to do', async () => {
  const misspelt = await svcProcess(['tenant', 'crate']);
  expect(misspelt.code).toBe(2);
  expect(misspelt.stderr).toContain('Did you mean create?');
  const badId = await svcProcess(['credits', 'balance', 'nobody']);
  expect(badId.code).toBe(2);
  expect(badId.stderr).toContain('tnt_…');
  const amount = await svcProcess(['credits', 'grant', 'tnt_x', '-1', '--reference', 'r']);
  expect(amount.code).toBe(2);
  const unknown = await svcProcess(['tenant', 'show', 'tnt_01kajh8z2wf5xav9c3q7m4n6rt']);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('no such tenant') });
  const url = await svcProcess([
    'tenant',
    'create',
    '--name',
    'x',
    '--webhook-url',
    'http://127.0.0.1/',
  ]);
  expect(url).toMatchObject({ code: 1, stderr: 'The webhook URL must be an https URL.\n' });
});

test('missing settings, unreachable servers and the wrong environment are explained', async () => {
  const nothing = await svcProcess(['status'], { DATABASE_URL: '', SVC_LOCAL_DIR: '/nonexistent' });
  expect(nothing.code).toBe(1);
  expect(nothing.stderr).toContain('npm start');
  const key = await svcProcess(['status'], { SVC_MASTER_KEY: 'short' });
  expect(key.code).toBe(2);
  expect(key.stderr).toContain('SVC_MASTER_KEY');
  const down = await svcProcess(['status'], {
    DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/none',
  });
  expect(down.code).toBe(1);
  expect(down.stderr).toContain('Postgres at DATABASE_URL cannot be reached');
  await svcProcess(['status']);
  const other = await svcProcess(['status'], { SVC_ENVIRONMENT: 'production' });
  expect(other.code).toBe(2);
  expect(other.stderr).toContain('belongs to sandbox');
});

test('status shows submissions in flight, also without Redis', async () => {
  const status = await record('status');
  expect(status).toMatchObject({
    environment: 'sandbox',
    database: 'reachable',
    redis: 'not reachable',
    submissions: {},
    deliveries: { pending: 0, due: 0 },
  });
});

test('status lists dead letters, for people and for programs', async () => {
  const submissionId = toWireId('sub', deadId);
  expect(await record('status')).toMatchObject({
    deadLetters: { count: 0, retrying: 0, listed: [] },
  });
  await database.query(
    `INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier, state,
       payload_sealed, quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version,
       available_after_micros, dispatch_deadline_at, created_at)
     SELECT $1, id, 'dead', '\\x00', 'req-1', 'ats.application', 'standard', 'pending', '\\x00', 0, 0, 1000000, 1, 0,
       svc_now(), svc_now() FROM tenants LIMIT 1`,
    [deadId],
  );
  await database.query(
    `INSERT INTO reconcile_failures (reconciler, subject_id, kind, failures, first_failed_at, last_failed_at,
       next_attempt_at, error)
     VALUES ('settlement', $1, 'stale_pending', 5, svc_now() - interval '2 minutes', svc_now(),
       svc_now() + interval '15 minutes', 'cannot be unsealed')`,
    [deadId],
  );
  expect(await record('status')).toMatchObject({
    deadLetters: {
      count: 1,
      retrying: 0,
      listed: [
        {
          id: submissionId,
          reconciler: 'settlement',
          kind: 'stale_pending',
          failures: 5,
          error: 'cannot be unsealed',
        },
      ],
    },
  });
  const { stdout } = await svc(['status']);
  expect(stdout).toContain('dead letters');
  expect(stdout).toMatch(new RegExp(`${submissionId} +stale_pending +5 +2 m`));
});

test('the doctor names every fault of a deployment without Redis, and exits with 1', async () => {
  const { code, stdout, stderr } = await svc(['doctor', '--json']);
  expect(stderr).toBe('');
  expect(code).toBe(1);
  const findings: { check: string; state: string }[] = JSON.parse(stdout);
  const stateOf = Object.fromEntries(findings.map(({ check, state }) => [check, state]));
  expect(stateOf).toMatchObject({
    redis: 'fault',
    postgres: 'ok',
    role: 'ok',
    partitions: 'ok',
    clocks: 'ok',
  });
  expect((await svc(['doctor'])).stdout).toContain('REDIS_URL');
});
