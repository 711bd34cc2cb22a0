import { closeRedis, connectRedis, waitForRedis } from '@svc/queue';
import {
  bareEnvironment,
  createTestDatabase,
  type Ran,
  runSvc,
  startTestRedis,
  testMasterKey,
  type TestDatabase,
  type TestRedis,
} from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let database: TestDatabase;
let redis: TestRedis;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), startTestRedis()]);
});
afterAll(async () => {
  await redis.close();
  await database.close();
});

function svc(...words: string[]): Promise<Ran> {
  return runSvc(words, {
    ...bareEnvironment(),
    DATABASE_URL: database.databaseUrl,
    REDIS_URL: redis.redisUrl,
    SVC_MASTER_KEY: testMasterKey(),
  });
}

async function record(...words: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await svc(...words, '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

async function actionsOf(subjectId: string): Promise<string[]> {
  const rows = await database.query<{ action: string }>(
    'SELECT action FROM audit_log WHERE subject_id = $1 ORDER BY id',
    [subjectId],
  );
  return rows.map(({ action }) => action);
}

describe('svc node', () => {
  test('shows, drains, disables and enables a node by its id, and audits each change', async () => {
    const nodeId = String((await record('node', 'create', '--name', 'attic'))['nodeId']);
    const shown = await record('node', 'show', nodeId);
    expect(shown).toMatchObject({ nodeId, name: 'attic', linked: false, link: null, running: [] });
    expect(await record('node', 'drain', nodeId)).toMatchObject({ nodeId, draining: true });
    const disabled = await record('node', 'disable', nodeId, '--yes');
    expect(disabled).toMatchObject({ nodeId, disabledAt: expect.stringMatching(/Z$/) });
    const enabled = await record('node', 'enable', nodeId);
    expect(enabled).toMatchObject({ draining: false, disabledAt: null });
    const actions = ['node.create', 'node.drain', 'node.disable', 'node.enable'];
    expect(await actionsOf(nodeId)).toEqual(actions);
    expect((await svc('node', 'list')).stdout).toContain(nodeId);
  });

  test('creates a node again under its id after a restore, but not twice', async () => {
    const nodeId = 'nod_01kajh8z2wf5xav9c3q7m4n6rv';
    const words = ['node', 'create', '--name', 'barn', '--id', nodeId, '--slots-max', '8'];
    const created = await record(...words);
    const nodeSecret = expect.stringMatching(/^nsk_\S{20,}$/);
    expect(created).toEqual({ nodeId, name: 'barn', slotsMax: 8, nodeSecret });
    expect(await actionsOf(nodeId)).toEqual(['node.create']);
    const again = await svc(...words);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain('A node with this id exists already.');
    expect(await record('node', 'show', nodeId)).toMatchObject({ name: 'barn', slotsMax: 8 });
    expect((await svc('node', 'create', '--name', 'barn', '--id', 'nod_1')).code).toBe(2);
    expect((await svc('node', 'create', '--name', 'barn', '--id', '')).code).toBe(2);
  });

  test('limits the slots of a node, and shows its quarantine until it is enabled', async () => {
    const created = await record('node', 'create', '--name', 'shed');
    expect(created).toMatchObject({ slotsMax: 4 });
    const nodeId = String(created['nodeId']);
    expect(await record('node', 'update', nodeId, '--slots-max', '9')).toMatchObject({
      slotsMax: 9,
    });
    expect((await svc('node', 'update', nodeId, '--slots-max', '201')).code).toBe(2);
    await database.query(
      `UPDATE nodes SET quarantined_until = svc_now() + interval '1 hour', quarantine_reason = 'unfinished'
       WHERE name = 'shed'`,
    );
    const quarantined = {
      quarantinedUntil: expect.stringMatching(/Z$/),
      quarantineReason: expect.stringContaining('not_started or node_lost'),
    };
    expect(await record('node', 'show', nodeId)).toMatchObject(quarantined);
    expect((await svc('node', 'list')).stdout).toContain('not_started or node_lost');
    expect(await record('node', 'enable', nodeId)).toMatchObject({ quarantinedUntil: null });
    expect(await actionsOf(nodeId)).toEqual(['node.create', 'node.update', 'node.enable']);
  });

  test('rotates a secret, shown once, and refuses a third while two are valid', async () => {
    const nodeId = String((await record('node', 'create', '--name', 'cellar'))['nodeId']);
    const rotated = await record('node', 'rotate-secret', nodeId, '--overlap', '1h');
    expect(rotated).toMatchObject({
      nodeId,
      nodeSecret: expect.stringMatching(/^nsk_/),
      previousValidUntil: expect.stringMatching(/Z$/),
    });
    const third = await svc('node', 'rotate-secret', nodeId, '--json');
    expect(third).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') });
    await record('node', 'rotate-secret', nodeId, '--force');
    expect(await record('node', 'show', nodeId)).toMatchObject({ secretVersion: 3 });
  });

  test('refuses an unknown node', async () => {
    const unknown = 'nod_01kajh8z2wf5xav9c3q7m4n6rt';
    for (const command of ['show', 'drain', 'enable', 'disable', 'rotate-secret']) {
      const refused = await svc('node', command, unknown, '--json');
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('no such node') });
    }
    expect((await svc('node', 'show', 'tnt_x')).code).toBe(2);
  });
});

describe('svc surge', () => {
  test('pins the multiplier, ends the pin, and shows both', async () => {
    const idle = { surgeMultiplier: 1, slots: 0, busy: 0 };
    expect(await record('surge', 'show')).toEqual({ pinned: null, ...idle });
    expect(await record('surge', 'pin', '1.5')).toEqual({ pinned: 1.5, ...idle });
    expect(await record('surge', 'auto')).toEqual({ pinned: null, ...idle });
    expect(await actionsOf('surge')).toEqual(['surge.pin', 'surge.auto']);
  });

  test.each(['0.99', '3.000001', 'x'])('refuses to pin it to %s', async (multiplier) => {
    expect((await svc('surge', 'pin', multiplier)).code).toBe(2);
  });
});

test('a change ends with 0, although REDIS_URL names the Redis of the other environment', async () => {
  const nodeId = String((await record('node', 'create', '--name', 'loft'))['nodeId']);
  const plain = connectRedis(redis.redisUrl, 'producer');
  await waitForRedis(plain, 5_000);
  await plain.set('svc:environment', 'production');
  try {
    expect(await record('node', 'drain', nodeId)).toMatchObject({ draining: true, linked: null });
    expect(await record('surge', 'pin', '1.5')).toMatchObject({ pinned: 1.5, slots: null });
  } finally {
    await plain.del('svc:environment');
    await closeRedis(plain);
  }
});
