import type { HeardInstance } from '@svc/queue';
import type { LedgerAuditStatus } from '@svc/store';
import { expect, test } from 'vitest';
import { findingsOf } from '../commands/doctor.ts';
import type { Deployment } from './finding.ts';

const nowMs = Date.parse('2026-11-22T12:00:00Z');
const now = new Date(nowMs);
const build = { version: '1.2.0', schema: '2026_last' };
const hourMs = 3_600_000;

function instance(service: string, change: Partial<HeardInstance> = {}): HeardInstance {
  return {
    service,
    host: 'a',
    pid: 1,
    startedAt: now.toISOString(),
    silentMs: 0,
    clockAheadMs: 0,
    facts: { ...build, poolMax: 10 },
    ...change,
  };
}

const services = ['gateway', 'dispatcher', 'settlement', 'webhooks'].map((name) => instance(name));

const ledger: LedgerAuditStatus = {
  step: 1n,
  at: now,
  tenants: 1,
  submissions: 1,
  faults: [],
  failedAt: null,
  error: null,
  fullAt: now,
  fullRatio: 0,
};

const health = {
  version: '7.4.0',
  maxmemoryPolicy: 'noeviction',
  isAppendOnly: true,
  isWritten: true,
  usedBytes: 10,
  maxBytes: 0,
  nowMs,
};

const redis: NonNullable<Deployment['redis']> = {
  health,
  cluster: null,
  askedMs: nowMs,
  services,
};

const database: Deployment['database'] = {
  version: 180_001,
  settings: {
    fsync: 'on',
    full_page_writes: 'on',
    archive_mode: 'on',
    data_checksums: 'on',
    synchronous_standby_names: 'ANY 1 (a)',
  },
  excess: [],
  missing: [],
  sessionsMax: 97,
  sessions: 4,
  isEncrypted: true,
  standbys: 1,
  idleSlots: [],
  defaultPartitions: [],
};

const sound: Deployment = {
  environment: 'production',
  build,
  databaseUrl: 'postgresql://svc@db.example.com/svc',
  redisUrl: 'rediss://redis.example.com',
  databaseClock: { now, askedMs: nowMs },
  database,
  partitionsMissing: [],
  ledger,
  keyHolders: [],
  sealingKeys: ['2026'],
  databaseTime: now,
  deadLetters: 0,
  isPurgeLate: false,
  partitionsOverdue: [],
  redis,
};

const badOf = (change: Partial<Deployment>) =>
  findingsOf({ ...sound, ...change })
    .filter(({ state }) => state !== 'ok')
    .map(({ state, check }) => `${state} ${check}`);

const withCluster = (second: typeof health | null, slotsOwned = 16_384) => ({
  redis: {
    ...redis,
    cluster: {
      masters: [
        { name: 'a:1', health },
        { name: 'b:1', health: second },
      ],
      slotsOwned,
    },
  },
});
const withServices = (...all: HeardInstance[]) => ({ redis: { ...redis, services: all } });
const withRedis = (change: Partial<typeof health>) => ({
  redis: { ...redis, health: { ...health, ...change } },
});
const withDatabase = (change: Partial<typeof database>) => ({
  database: { ...database, ...change },
});
const withSettings = (name: string, value: string) =>
  withDatabase({ settings: { ...database.settings, [name]: value } });
const withLedger = (change: Partial<LedgerAuditStatus>) => ({ ledger: { ...ledger, ...change } });
const others = services.slice(1);
const { facts: _facts, ...earlier } = instance('gateway');
const plain = {
  databaseUrl: 'postgresql://svc@db.example.com/svc',
  ...withDatabase({ isEncrypted: false }),
};

test('a sound deployment has no finding, and every check says what it found', () => {
  expect(badOf({})).toEqual([]);
  for (const { found, remedy } of findingsOf(sound)) {
    expect(found).not.toBe('');
    expect(remedy).toBeNull();
  }
});

test.each<[string, Partial<Deployment>, string[]]>([
  ['a service does not run', withServices(...others), ['fault services']],
  [
    'a service of an earlier version runs',
    withServices(earlier, ...others),
    ['warning versions', 'warning pools'],
  ],
  [
    'services have another schema',
    withServices(instance('gateway', { facts: { ...build, schema: 'x', poolMax: 1 } }), ...others),
    ['warning versions'],
  ],
  ['the pools are larger than Postgres allows', withDatabase({ sessionsMax: 43 }), ['fault pools']],
  ['the pools fit exactly', withDatabase({ sessionsMax: 44 }), []],
  [
    'a clock is two seconds behind',
    withServices(instance('gateway', { clockAheadMs: -2_000 }), ...others),
    ['warning clocks'],
  ],
  [
    'a clock is two minutes ahead',
    withServices(instance('gateway', { clockAheadMs: 120_000 }), ...others),
    ['fault clocks'],
  ],
  [
    'this machine is ahead',
    { databaseClock: { now, askedMs: nowMs + 3_000 }, redis: { ...redis, askedMs: nowMs + 3_000 } },
    ['warning clocks'],
  ],
  ['Redis is ahead', withRedis({ nowMs: nowMs + 3_000 }), ['warning clocks']],
  [
    'a certificate expires in a week',
    withServices(
      instance('gateway', {
        facts: { ...build, poolMax: 1, certificateExpiresAt: '2026-11-29T00:00:00Z' },
      }),
      ...others,
    ),
    ['warning certificates'],
  ],
  [
    'a certificate has expired',
    withServices(
      instance('gateway', {
        facts: { ...build, poolMax: 1, certificateExpiresAt: '2026-11-20T00:00:00Z' },
      }),
      ...others,
    ),
    ['fault certificates'],
  ],
  ['Postgres is too old', withDatabase({ version: 140_010 }), ['fault postgres']],
  ['the role lacks a privilege', withDatabase({ missing: ['INSERT on events'] }), ['fault role']],
  ['the role owns tables', withDatabase({ excess: ['owns tables'] }), ['fault role']],
  ['fsync is off', withSettings('fsync', 'off'), ['fault durability']],
  ['pages have no checksums', withSettings('data_checksums', 'off'), ['warning durability']],
  ['Postgres is reached without TLS', plain, ['fault postgres tls']],
  [
    'Postgres is reached without TLS, and DATABASE_URL names its host by a parameter',
    { ...plain, databaseUrl: 'postgresql://localhost/svc?host=db.example.com' },
    ['fault postgres tls'],
  ],
  ['a partition is missing', { partitionsMissing: ['deliveries 2027-01'] }, ['fault partitions']],
  [
    'rows are in a default partition',
    withDatabase({ defaultPartitions: ['deliveries_default'] }),
    ['warning partitions'],
  ],
  ['a slot keeps WAL for nobody', withDatabase({ idleSlots: ['old'] }), ['fault replication']],
  [
    'there is neither standby nor archive',
    withDatabase({
      standbys: 0,
      settings: { ...database.settings, archive_mode: 'off', synchronous_standby_names: '' },
    }),
    ['warning replication'],
  ],
  ['a synchronous standby is away', withDatabase({ standbys: 0 }), ['fault replication']],
  [
    'every standby is asynchronous',
    withSettings('synchronous_standby_names', ''),
    ['warning replication'],
  ],
  ['an old partition stays', { partitionsOverdue: ['deliveries 2026-01'] }, ['warning retention']],
  [
    'Redis is away',
    { redis: null, isPurgeLate: null },
    ['warning services', 'warning pools', 'fault redis', 'warning retention'],
  ],
  ['Redis is too old', withRedis({ version: '6.0.16' }), ['fault redis']],
  ['Redis evicts keys', withRedis({ maxmemoryPolicy: 'allkeys-lru' }), ['fault redis memory']],
  [
    'the memory of Redis is nearly full',
    withRedis({ usedBytes: 90, maxBytes: 100 }),
    ['warning redis memory'],
  ],
  ['Redis keeps no file', withRedis({ isAppendOnly: false }), ['warning redis file']],
  [
    'one master of a cluster evicts keys',
    withCluster({ ...health, maxmemoryPolicy: 'allkeys-lru' }),
    ['fault redis memory'],
  ],
  ['one master of a cluster does not answer', withCluster(null), ['fault redis']],
  ['slots of a cluster have no owner', withCluster(health, 16_383), ['fault redis cluster']],
  ['Redis cannot write its file', withRedis({ isWritten: false }), ['fault redis file']],
  ['Redis is reached without TLS', { redisUrl: 'redis://redis.example.com' }, ['fault redis tls']],
  ['no audit is complete yet', withLedger({ at: null }), ['warning ledger audit']],
  [
    'the first audit failed',
    withLedger({ at: null, failedAt: now, error: 'timeout' }),
    ['fault ledger audit'],
  ],
  [
    'the last audit is too old',
    withLedger({ at: new Date(nowMs - 901_000) }),
    ['fault ledger audit'],
  ],
  [
    'the last audit failed',
    withLedger({ failedAt: now, error: 'timeout' }),
    ['fault ledger audit'],
  ],
  [
    'the ledger has faults',
    withLedger({
      faults: [{ kind: 'hold_not_ended_once', subject: 'x', tenantId: null, detail: '' }],
    }),
    ['fault ledger audit'],
  ],
  [
    'no full pass ends',
    withLedger({ fullAt: new Date(nowMs - 37 * hourMs) }),
    ['warning ledger audit'],
  ],
  ['there are dead letters', { deadLetters: 2 }, ['fault dead letters']],
  ['no service reports the retention', { partitionsOverdue: null }, ['warning retention']],
  ['personal data is kept too long', { isPurgeLate: true }, ['fault retention']],
])('if %s, exactly that is a finding, with what to do', (_name, change, expected) => {
  expect(badOf(change)).toEqual(expected);
  for (const { state, remedy } of findingsOf({ ...sound, ...change })) {
    expect(remedy === null).toBe(state === 'ok');
  }
});

test('on one machine, and in a sandbox, less is needed', () => {
  const local = {
    databaseUrl: 'postgresql://svc@127.0.0.1/svc',
    redisUrl: 'redis://localhost:6379',
  };
  expect(badOf({ ...plain, ...local })).toEqual([]);
  const sandbox = {
    environment: 'sandbox' as const,
    ...withDatabase({
      excess: ['owns tables'],
      standbys: 0,
      settings: { ...database.settings, synchronous_standby_names: '' },
    }),
  };
  expect(badOf(sandbox)).toEqual(['warning role']);
});

test('processes of an earlier version are not among those whose pools are added up', () => {
  const found = findingsOf({ ...sound, ...withServices(earlier, ...others) });
  expect(found.find(({ check }) => check === 'pools')?.found).toMatch(
    /^3 processes and svc may open 34 connections; .*; not counted: 1 processes of an earlier version$/,
  );
});

const holder = (service: string, host: string, ...keyIds: string[]) => ({
  id: `${service}-${host}`,
  service,
  host,
  keyIds,
});

const keysFinding = (keyHolders: Deployment['keyHolders'], sealingKeys = ['2026', '2027']) =>
  findingsOf({ ...sound, keyHolders, sealingKeys }).find(({ check }) => check === 'master keys');

test('a process that lacks a key under which values may be sealed is a fault', () => {
  const both = [holder('gateway', 'a', '2027', '2026'), holder('settlement', 'a', '2026', '2027')];
  expect(keysFinding([...both, holder('gateway', 'b', '2026')])).toMatchObject({
    state: 'fault',
    found: 'gateway on b lacks 2027',
  });
  expect(keysFinding(both)?.state).toBe('ok');
  // No process seals under the old key, but values may still be sealed under it.
  expect(keysFinding([holder('gateway', 'a', '2027')])?.found).toBe('gateway on a lacks 2026');
  expect(keysFinding([holder('gateway', 'a', '2027')], ['2027'])?.state).toBe('ok');
});
