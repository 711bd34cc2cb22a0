import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import {
  createWebhookReceiver,
  type TenantCredentials,
  waitUntil,
  type WebhookReceiver,
} from '@svc/testkit';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { findPython } from '../clients/subjects.ts';
import { job } from '../support/job.ts';
import { send, signedBy, type WireRequest } from '../support/wire.ts';
import { blocksOf, fileOf, type GuideBlock, programOf } from './blocks.ts';
import { installExample, missingPackage, receiverExamples } from './examples.ts';
import { type Receiver, run, startReceiver } from './programs.ts';
import { type GuideWorld, openGuideWorld, variablesOf } from './world.ts';

/**
 * True if all guides and examples run, as in `pnpm guides`. Otherwise only the code of the quick
 * start runs.
 */
const isWhole = process.env['GUIDES'] === 'all';

const python = findPython();
if (python === undefined) {
  process.stdout.write(
    'Python 3.10 or newer is missing: the Python of the guides is not tested.\n',
  );
}

/**
 * The patterns that the output of each guide's programs must match, and the error codes that this
 * output may name.
 */
const expected: Readonly<Record<string, { prints: readonly RegExp[]; codes?: readonly string[] }>> =
  {
    'quick-start': { prints: [/dispatched/, /submitted/] },
    signing: { prints: [/"balance":10000/, /10000/] },
    idempotency: { prints: [/"idempotent":true|true true/i, /submitted|running|dispatched/] },
    money: { prints: [/300/, /10000/, /grant/] },
    webhooks: { prints: [/dlv_/, /whe_/, /webhook\.test/], codes: ['delivery_in_progress'] },
    errors: { prints: [/\/payload\/atsType/], codes: ['validation_error'] },
    sandbox: { prints: [/captcha/, /cancelled/] },
    'going-live': { prints: [/ready/, /sandbox/, /ats\.application/] },
  };

let world: GuideWorld;
const guides = new Map<string, readonly GuideBlock[]>();

beforeAll(async () => {
  world = await openGuideWorld();
  const index = await read('/llms.txt');
  for (const [, slug = ''] of index.matchAll(/\/docs\/guides\/([a-z-]+)\.md\)/g)) {
    guides.set(slug, blocksOf(await read(`/docs/guides/${slug}.md`)));
  }
});
afterAll(() => world.close());

async function read(target: string): Promise<string> {
  const { status, text } = await send(world.stack.gatewayUrl, { method: 'GET', target });
  expect(status).toBe(200);
  return text;
}

function blocksOfGuide(slug: string): readonly GuideBlock[] {
  const blocks = guides.get(slug);
  if (blocks === undefined) throw new Error(`there is no guide ${slug}`);
  return blocks;
}

test('every guide is tested, and has code in all three languages', () => {
  expect([...guides.keys()]).toEqual(Object.keys(expected));
  for (const blocks of guides.values()) {
    for (const language of ['sh', 'ts', 'python']) {
      expect(programOf(blocks, language)).not.toBe('');
    }
    const others = blocks.filter(
      ({ language }) => !['sh', 'ts', 'python', 'json'].includes(language),
    );
    expect(others).toEqual([]);
    const files = blocks.filter(
      ({ attribute, language }) => attribute !== '' && language !== 'json',
    );
    for (const { attribute } of files) expect(attribute).toMatch(/^file=receiver\.(?:ts|py)$/);
  }
});

test('every JSON block is valid by its schema in the document', async () => {
  const ajv = new Ajv2020({ strict: false, logger: false });
  ajv.addSchema({ ...JSON.parse(await read('/openapi.json')), $id: 'openapi' });
  const samples = [...guides.values()].flat().filter(({ language }) => language === 'json');
  expect(samples.length).toBeGreaterThan(0);
  for (const { attribute, code } of samples) {
    const pointer =
      attribute === 'webhook'
        ? `/webhooks/${JSON.parse(code).type}/post/requestBody/content/application~1json/schema`
        : `/components/schemas/${attribute}`;
    const validate = ajv.getSchema(`openapi#${encodeURI(pointer)}`);
    if (validate === undefined) throw new Error(`the document has no schema at ${pointer}`);
    expect([validate(JSON.parse(code)), validate.errors]).toEqual([true, null]);
  }
});

async function signUpAsReader(dir: string): Promise<TenantCredentials> {
  const [signUp] = blocksOfGuide('quick-start');
  const script = `${signUp?.code}\necho "$SVC_TENANT $SVC_SECRET $SVC_WEBHOOK_SECRET"\n`;
  const [tenantId = '', hmacSecret = '', webhookSecret = ''] = (
    await run(['sh', '-ec', script], { cwd: dir, env: {} })
  )
    .trim()
    .split(' ');
  return { tenantId, hmacSecret, webhookSecret };
}

interface Language {
  readonly name: 'sh' | 'ts' | 'python';
  readonly suffix: string;
  readonly receiver?: { readonly file: string; readonly program: string };
  /**
   * Returns a command that runs `programs`, each with its `env`. It must run in `dir`, where the
   * programs are.
   */
  command(dir: string, programs: readonly Program[]): readonly string[];
}

interface Program {
  readonly slug: string;
  readonly env: Readonly<Record<string, string>>;
}

const heading = '=== ';

/**
 * The languages of the guides' programs. One process runs all programs of a language, because one
 * process for each program would take longer.
 */
const languages: readonly Language[] = [
  {
    name: 'sh',
    suffix: 'sh',
    command: (_dir, programs) => [
      'sh',
      '-ec',
      programs
        .map(({ slug, env }) => {
          const set = Object.entries(env).map(([name, value]) => `export ${name}='${value}'`);
          return `echo; echo '${heading}${slug}'; (${set.join('; ')}; set -e; . ./${slug}.sh)`;
        })
        .join('\n'),
    ],
  },
  {
    name: 'ts',
    suffix: 'ts',
    receiver: { file: 'receiver.ts', program: process.execPath },
    command(dir, programs) {
      const steps = programs.map(
        ({ slug, env }) =>
          `console.log('${heading}${slug}'); Object.assign(process.env, ${JSON.stringify(env)}); await import('./${slug}.ts');`,
      );
      writeFileSync(path.join(dir, 'all.ts'), steps.join('\n'));
      return [process.execPath, 'all.ts'];
    },
  },
  {
    name: 'python',
    suffix: 'py',
    receiver: { file: 'receiver.py', program: python?.program ?? 'python3' },
    command(dir, programs) {
      const steps = programs.map(
        ({ slug, env }) =>
          `print('${heading}${slug}'); os.environ.update(${JSON.stringify(env)}); runpy.run_path('${slug}.py')`,
      );
      writeFileSync(path.join(dir, 'all.py'), ['import os, runpy', ...steps].join('\n'));
      return [python?.program ?? 'python3', 'all.py'];
    },
  },
];

const tested = languages.filter(({ name }) => name !== 'python' || python !== undefined);

test.each(tested)(
  'the code of the guides in $name runs and prints the expected answers',
  async (language) => {
    const dir = path.join(world.dir, language.name);
    mkdirSync(dir);
    const plain = await createWebhookReceiver();
    onTestFinished(() => plain.close());
    const receivers = new Map<
      string,
      { readonly started: Receiver; readonly tenant: TenantCredentials }
    >();
    const programs: Program[] = [];
    for (const [slug, blocks] of testedGuides()) {
      const tenant = slug === 'quick-start' ? await signUpAsReader(dir) : await world.signUp();
      const env = variablesOf(world.stack, tenant);
      const started = await startReceiverOf(language, slug, dir, env);
      if (started !== undefined) receivers.set(slug, { started, tenant });
      programs.push({ slug, env: { ...env, WEBHOOK_URL: started?.url ?? plain.url } });
      const setup = slug === 'quick-start' ? '' : setupOf(language);
      const code = `${setup}${programOf(blocks, language.name)}`;
      writeFileSync(path.join(dir, `${slug}.${language.suffix}`), code);
    }
    const printed = await run(language.command(dir, programs), { cwd: dir, env: {} });
    const outputs = printed.split(heading).slice(1);
    expect(outputs.map((output) => output.split('\n')[0])).toEqual([...testedGuides().keys()]);
    for (const [index, slug] of [...testedGuides().keys()].entries()) {
      const { prints, codes = [] } = expected[slug] ?? { prints: [] };
      const output = outputs[index] ?? '';
      for (const pattern of prints) expect(`${slug}: ${output}`).toMatch(pattern);
      const refused = [...output.matchAll(/\/docs\/errors#(\w+)/g)].map(([, code]) => code);
      expect(refused.filter((code) => !codes.includes(String(code)))).toEqual([]);
    }
    if (language.receiver === undefined) await expectTestEvent(plain);
    else await expectReceived(receivers);
  },
);

function testedGuides(): ReadonlyMap<string, readonly GuideBlock[]> {
  return isWhole ? guides : new Map([...guides].slice(0, 1));
}

/** The set-up code of the quick start. The code of every other guide needs it first. */
function setupOf({ name }: Language): string {
  const blocks = blocksOfGuide('quick-start').filter(({ language }) => language === name);
  return `${blocks[name === 'sh' ? 1 : 0]?.code}\n`;
}

async function startReceiverOf(
  { receiver }: Language,
  slug: string,
  dir: string,
  env: Readonly<Record<string, string>>,
): Promise<Receiver | undefined> {
  const blocks = blocksOfGuide(slug);
  if (
    receiver === undefined ||
    !blocks.some(({ attribute }) => attribute !== '' && attribute === `file=${receiver.file}`)
  ) {
    return undefined;
  }
  const file = `${slug}-${receiver.file}`;
  writeFileSync(path.join(dir, file), fileOf(blocks, receiver.file));
  const started = await startReceiver([receiver.program, file], { cwd: dir, env });
  onTestFinished(() => started.close());
  return started;
}

async function expectTestEvent(receiver: WebhookReceiver): Promise<void> {
  const { event } = await receiver.waitFor(({ event: { type } }) => type === 'webhook.test');
  expect(event.data).toEqual({});
}

async function expectReceived(
  receivers: ReadonlyMap<
    string,
    { readonly started: Receiver; readonly tenant: TenantCredentials }
  >,
): Promise<void> {
  expect([...receivers.keys()]).toEqual(isWhole ? ['quick-start', 'webhooks'] : ['quick-start']);
  for (const { started } of receivers.values()) {
    const forged = await fetch(started.url, { method: 'POST', body: '{}' });
    expect(forged.status).toBe(400);
  }
  const quickStart = receivers.get('quick-start')?.started;
  await waitUntil(() => quickStart?.output().includes('verified webhook.test {}'));
  const webhooks = receivers.get('webhooks');
  if (webhooks !== undefined) await expectActsOnce(webhooks.started, webhooks.tenant);
}

async function expectActsOnce(started: Receiver, tenant: TenantCredentials): Promise<void> {
  await waitUntil(() => started.output().includes('new webhook.test'));
  const ask = (method: string, target: string) =>
    send(world.stack.gatewayUrl, signedBy(tenant, { method, target }));
  const list = await ask('GET', '/v1/webhooks/deliveries');
  const sent = [list.body['data']]
    .flat()
    .map((one) => Object(one))
    .find(({ type, endpointId }) => type === 'webhook.test' && endpointId === null);
  const { id } = Object(sent);
  await waitUntil(
    async () => (await ask('POST', `/v1/webhooks/deliveries/${id}/redeliver`)).status === 202,
  );
  await waitUntil(() => started.output().includes('seen before webhook.test'));
  expect(started.output().match(/new webhook\.test/g)).toHaveLength(1);
}

test.runIf(isWhole).each(receiverExamples)(
  'the example for $name accepts real webhooks, refuses forged ones, and acts once',
  async (example) => {
    const missing = missingPackage(example);
    if (missing !== undefined) {
      process.stdout.write(`${missing} is not installed: its example is not tested.\n`);
      return;
    }
    const cwd = installExample(example.name, world.dir, example.npm);
    const tenant = await world.signUp();
    const started = await startReceiver(example.command, {
      cwd,
      env: variablesOf(world.stack, tenant),
    });
    onTestFinished(() => started.close());
    const ask = (method: string, target: string, body?: object) =>
      send(world.stack.gatewayUrl, signedBy(tenant, { method, target, ...(body && { body }) }));
    await ask('PATCH', '/v1/settings', { webhookUrl: started.url });
    await ask('POST', '/v1/webhooks/test');
    await expectActsOnce(started, tenant);
    const forged = await fetch(started.url, { method: 'POST', body: '{}' });
    expect(forged.status).toBe(400);
  },
);

test.runIf(isWhole)(
  'the examples for polling and reconciliation bring records up to date, and find each difference',
  async () => {
    const tenant = await world.signUp();
    const records = path.join(world.dir, 'records.db');
    const env = { ...variablesOf(world.stack, tenant), DATABASE: records };
    const database = new DatabaseSync(records);
    onTestFinished(() => database.close());
    database.exec(`CREATE TABLE submissions
    (key TEXT PRIMARY KEY, id TEXT, status TEXT, charged REAL, created_at TEXT)`);
    const add = database.prepare(`INSERT INTO submissions VALUES (?, NULL, 'open', NULL, ?)`);
    const ask = (wire: WireRequest) => send(world.stack.gatewayUrl, signedBy(tenant, wire));
    const ended = async () => {
      const list = await ask({ method: 'GET', target: '/v1/submissions?status=submitted' });
      return [list.body['data']].flat().length === 2;
    };
    for (const key of ['kept', 'changed']) {
      add.run(key, new Date().toISOString());
      const body = { ...job(key) };
      expect((await ask({ method: 'POST', target: '/v1/submissions', body })).status).toBe(201);
    }
    await waitUntil(ended);
    const polling = installExample('polling', world.dir);
    const polled = await run([process.execPath, 'poll.ts'], { cwd: polling, env });
    expect(polled).toContain('2 open, 2 ended.');
    const reconciliation = installExample('reconciliation', world.dir);
    const reconcile = () => run([process.execPath, 'reconcile.ts'], { cwd: reconciliation, env });
    expect(await reconcile()).toMatch(/^2 submissions, \d+ lines, 0 differences\.$/m);
    database.exec(`UPDATE submissions SET charged = 0.5 WHERE key = 'changed'`);
    add.run('unknown', new Date().toISOString());
    await expect(reconcile()).rejects.toThrow(
      /changed: 0\.5 in your records, but charged [^]*unknown: only in your records[^]*2 differences/,
    );
  },
);
