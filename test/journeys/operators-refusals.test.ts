import { bareEnvironment, startStack, type TestStack } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { svcOn, type Svc } from '../support/svc.ts';

let stack: TestStack;
let svc: Svc;
beforeAll(async () => {
  stack = await startStack({ gateways: 0, dispatchers: 0, settlements: 0, webhooks: 0 });
  svc = svcOn(stack);
});
afterAll(() => stack.close());

const nobody = 'tnt_01kajh8z2wf5xav9c3q7m4n6rt';

test.each([
  [['tenant', 'crate'], 'Did you mean create?'],
  [['tennant', 'list'], 'Did you mean tenant?'],
  [['tenant', 'show'], 'missing required argument'],
  [['tenant', 'show', 'nobody'], 'tnt_…'],
  [['tenant', 'update', nobody], 'Nothing to change'],
  [['tenant', 'update', nobody, '--rebate', '101'], 'from 0 to 100'],
  [['tenant', 'update', nobody, '--rate', '0'], 'whole number'],
  [['tenant', 'update', nobody, '--in-flight', '0'], 'whole number'],
  [['tenant', 'rotate-secret', nobody], 'either --hmac or --webhook'],
  [['tenant', 'rotate-secret', nobody, '--hmac', '--webhook'], 'either --hmac or --webhook'],
  [['tenant', 'rotate-secret', nobody, '--hmac', '--overlap', 'long'], '24h'],
  [['submission', 'list', '--status', 'done'], 'Allowed choices'],
  [['submission', 'list', '--limit', '100000'], 'from 1 to 1000'],
  [['audit', 'list', '--since', 'yesterday'], '24h'],
  [['audit', 'list', '--by', 'Ana'], 'op_…'],
  [['queue', 'pause', 'mail'], 'dispatch, settlement, webhook'],
  [['completion', 'fish'], 'Allowed choices'],
])('wrong usage exits with 2 and names the right usage: svc %j', async (words, why) => {
  const ran = await svc.run(words);
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toContain(why);
  expect(ran.stderr).not.toMatch(/^ +at /m);
});

test.each([
  [['tenant', 'show', nobody], 'no such tenant'],
  [['tenant', 'disable', nobody], 'no such tenant'],
  [['tenant', 'update', nobody, '--rate', '5'], 'no such tenant'],
  [['tenant', 'rotate-secret', nobody, '--hmac'], 'no such tenant'],
  [['credits', 'balance', nobody], 'no such tenant'],
  [['credits', 'grant', nobody, '5', '--reference', 'R'], 'no such tenant'],
  [['credits', 'reverse', nobody.replace('tnt', 'pur')], 'no such purchase'],
  [['operator', 'disable', nobody.replace('tnt', 'op')], 'no such operator'],
  [['operator', 'rotate-secret', nobody.replace('tnt', 'op')], 'no such operator'],
  [['submission', 'show', nobody.replace('tnt', 'sub')], 'no such submission'],
  [['submission', 'cancel', nobody.replace('tnt', 'sub')], 'no such submission'],
  [['trace', nobody.replace('tnt', 'sub')], 'no such submission'],
  [['rate-card', 'show', '--tenant', nobody], 'no such tenant'],
  [['rate-card', 'apply', '/nonexistent/card.json'], 'cannot be read'],
])('an unknown id exits with 1 and writes no audit entry: svc %j', async (words, why) => {
  const ran = await svc.run(words);
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toContain(why);
  expect(await svc.list('audit', 'list')).toEqual([]);
});

test.each([['tenant', 'list'], ['status'], ['trace', nobody.replace('tnt', 'sub')], ['migrate']])(
  'svc explains that the database is down: svc %s',
  async (...words) => {
    const DATABASE_URL = 'postgresql://postgres@127.0.0.1:1/none';
    const ran = await svc.runProcess(words, { DATABASE_URL });
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toMatch(/cannot be reached/);
    expect(ran.stderr.trim().split('\n')).toHaveLength(1);
  },
);

test('an unreachable Redis stops only the commands that need it', async () => {
  const away = { REDIS_URL: 'redis://127.0.0.1:1' };
  const status = await svc.runProcess(['status', '--json'], away);
  expect(JSON.parse(status.stdout)).toMatchObject({ redis: 'not reachable', queues: null });
  const queues = await svc.runProcess(['queue', 'status'], away);
  expect(queues).toMatchObject({ code: 1, stdout: '' });
  expect(queues.stderr).toContain('REDIS_URL');
  const paused = await svc.runProcess(['queue', 'pause', 'webhook'], away);
  expect(paused).toMatchObject({ code: 1, stdout: '' });
  expect(await svc.list('audit', 'list')).toEqual([]);
});

test('missing configuration is named, with the variable to set', async () => {
  const bare = svcOn({ databaseUrl: '', redisUrl: '' });
  const nothing = await bare.runProcess(['status'], { SVC_LOCAL_DIR: '/nonexistent' });
  expect(nothing).toMatchObject({ code: 1, stdout: '' });
  expect(nothing.stderr).toContain('npm start');
  const key = await svc.run(['status'], { SVC_MASTER_KEY: '' });
  expect(key).toMatchObject({ code: 2, stdout: '' });
  expect(key.stderr).toContain('SVC_MASTER_KEY is not set');
});

test('help and completion need no configuration at all', async () => {
  const bare = svcOn({ databaseUrl: '', redisUrl: '' });
  const nothing = { ...bareEnvironment(), SVC_LOCAL_DIR: '/nonexistent', SVC_MASTER_KEY: '' };
  const help = await bare.runProcess(['--help'], nothing);
  expect(help).toMatchObject({ code: 0, stderr: '' });
  const script = await bare.runProcess(['completion', 'bash'], nothing);
  expect(script).toMatchObject({ code: 0, stderr: '' });
  expect(script.stdout).toContain("'tenant rotate-secret') words='--json");
});

test('svc prints no control characters from data that others wrote', async () => {
  const name = 'Evil \u001B[2J\u009B31m\u202E';
  await svc.json('tenant', 'create', '--name', name);
  const { stdout } = await svc.run(['tenant', 'list']);
  expect(stdout).toContain('Evil');
  for (const steering of ['\u001B', '\u009B', '\u202E']) expect(stdout).not.toContain(steering);
  const listed = await svc.run(['tenant', 'list', '--json']);
  for (const steering of ['\u001B', '\u009B']) expect(listed.stdout).not.toContain(steering);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name }]);
});
