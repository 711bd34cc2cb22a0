import { connect, createServer, type Socket } from 'node:net';
import {
  freePort,
  serviceEntry,
  serviceNames,
  type ServiceName,
  startServiceProcess,
} from '@svc/local';
import {
  bareEnvironment,
  createTestDatabase,
  entryUnderTest,
  newMasterKey,
  startTestRedis,
  type TestDatabase,
  testMasterKey,
  type TestRedis,
} from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/**
 * A service refuses a wrong configuration and the servers of the other environment (CONTRACT 0).
 */

let mine: { database: TestDatabase; redis: TestRedis };
let others: { database: TestDatabase; redis: TestRedis };

const servers = async () => {
  const [database, redis] = await Promise.all([createTestDatabase(), startTestRedis()]);
  return { database, redis };
};

beforeAll(async () => {
  [mine, others] = await Promise.all([servers(), servers()]);
  // A service of the sandbox runs once on the servers in `others`, and marks them as the sandbox's.
  const first = await startServiceProcess({
    name: 'settlement of the sandbox',
    entry: entryUnderTest(serviceEntry('settlement')),
    env: environmentOf({
      SVC_ENVIRONMENT: 'sandbox',
      DATABASE_URL: others.database.databaseUrl,
      REDIS_URL: others.redis.redisUrl,
    }),
  });
  await first.stop();
});
afterAll(async () => {
  for (const { database, redis } of [mine, others]) {
    await redis.close();
    await database.close();
  }
});

/** A correct production configuration with `changes`. Undefined removes a variable. */
function environmentOf(changes: Record<string, string | undefined>): NodeJS.ProcessEnv {
  return {
    ...bareEnvironment(),
    SVC_ENVIRONMENT: 'production',
    DATABASE_URL: mine.database.databaseUrl,
    REDIS_URL: mine.redis.redisUrl,
    SVC_MASTER_KEY: testMasterKey(),
    TRUST_PROXY: '10.0.0.0/8',
    GATEWAY_PORT: '0',
    NODE_LINK_PORT: '0',
    ...changes,
  };
}

/**
 * Starts a service, and stops it if it has started. Returns `it started`, or the error of the start
 * as text.
 */
async function refusal(
  service: ServiceName,
  changes: Record<string, string | undefined>,
): Promise<string> {
  const env = environmentOf(changes);
  const outcome = await startServiceProcess({
    name: service,
    entry: entryUnderTest(serviceEntry(service)),
    env,
  })
    .then(async (started) => {
      await started.stop();
      return 'it started';
    })
    .catch((error: unknown) => String(error));
  return outcome;
}

describe.concurrent.each(serviceNames)('%s', (service) => {
  test('refuses a database of the other environment', async () => {
    const { databaseUrl } = others.database;
    expect(await refusal(service, { DATABASE_URL: databaseUrl })).toContain(
      'The database belongs to sandbox, but SVC_ENVIRONMENT is production.',
    );
  });

  test('refuses a Redis of the other environment', async () => {
    const { redisUrl } = others.redis;
    expect(await refusal(service, { REDIS_URL: redisUrl })).toContain(
      'The Redis at REDIS_URL belongs to sandbox, but SVC_ENVIRONMENT is production',
    );
  });

  test('starts with a correct configuration', async () => {
    expect(await refusal(service, {})).toBe('it started');
  });
});

/**
 * One service is enough for this test, because all services open their store by the same function
 * and read the same common variables.
 */
test('a master key that is missing or malformed is refused', async () => {
  const without = await refusal('settlement', { SVC_MASTER_KEY: undefined });
  expect(without).toContain(
    'SVC_MASTER_KEY is not set: keys of the form <key id>:<base64 of 32 bytes>',
  );
  const short = await refusal('settlement', { SVC_MASTER_KEY: 'a:c2hvcnQ=' });
  expect(short).toContain('SVC_MASTER_KEY is not valid');
  expect(short).not.toContain('c2hvcnQ=');
});

test('production refuses a superuser of Postgres', async () => {
  const DATABASE_URL = mine.database.ownerUrl;
  expect(await refusal('settlement', { DATABASE_URL })).toContain(
    'The role of DATABASE_URL is a superuser. In production it must not have such rights',
  );
});

test('production refuses a standby that commits do not wait for', async () => {
  const { databaseUrl } = mine.database;
  const DATABASE_URL = databaseUrl.replace(/@([^/]+)/, '@$1,$1');
  expect(await refusal('settlement', { DATABASE_URL })).toContain(
    'The database has a standby, but commits do not wait for it',
  );
});

test('a master key that does not fit the database is refused', async () => {
  const { database, redis } = others;
  const said = await refusal('settlement', {
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: database.databaseUrl,
    REDIS_URL: redis.redisUrl,
    SVC_MASTER_KEY: newMasterKey(),
  });
  expect(said).toContain('SVC_MASTER_KEY cannot open the sealed values of the database');
});

test('no service guesses its environment', async () => {
  expect(await refusal('settlement', { SVC_ENVIRONMENT: undefined })).toContain(
    'SVC_ENVIRONMENT is not set: sandbox or production',
  );
});

test('in production the tenant API and the node link require TLS', async () => {
  expect(await refusal('gateway', { TRUST_PROXY: undefined })).toContain(
    'In production the tenant API needs TLS. Set TLS_CERT_FILE and TLS_KEY_FILE',
  );
  expect(await refusal('dispatcher', { TRUST_PROXY: undefined })).toContain(
    'In production the node link must use TLS. Set NODE_LINK_TLS_CERT_FILE and NODE_LINK_TLS_KEY_FILE',
  );
});

test('simulated nodes are refused in production', async () => {
  expect(await refusal('dispatcher', { SVC_SIMULATED_NODES: '1' })).toContain(
    'Simulated nodes are allowed only in the sandbox. Set SVC_SIMULATED_NODES to 0.',
  );
});

test('a wrong Redis that was unreachable at the start is refused when it answers', async () => {
  const url = new URL(others.redis.redisUrl);
  const { port: redisPort } = url;
  const port = await freePort();
  url.port = `${port}`;
  const service = await startServiceProcess({
    name: 'webhooks',
    entry: entryUnderTest(serviceEntry('webhooks')),
    env: environmentOf({ REDIS_URL: url.href }),
  });
  const sockets: Socket[] = [];
  const wayThere = createServer((inward) => {
    const outward = connect(Number(redisPort), '127.0.0.1');
    for (const socket of [inward, outward]) sockets.push(socket.on('error', () => {}));
    inward.pipe(outward).pipe(inward);
  }).listen(port, '127.0.0.1');
  expect(await service.exited).toBe('exited with 2');
  expect(service.logs().join('\n')).toContain('The Redis at REDIS_URL belongs to sandbox');
  for (const socket of sockets) socket.destroy();
  wayThere.close();
});
