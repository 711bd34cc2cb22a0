import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { checkoutDir, compileCache } from '@svc/local';
import {
  bareEnvironment,
  createTestDatabase,
  startTestRedis,
  runSvcProcess,
  selfSigned,
  testMasterKey,
} from '@svc/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let redis: Awaited<ReturnType<typeof startTestRedis>>;
let taken: number;
let untrusted: number;
let untrustedPostgres: number;
const servers: Server[] = [];

/** Agrees to the SSLRequest of a client of Postgres, then offers a certificate that it has signed itself. */
function startTlsAsPostgres(socket: Socket): void {
  socket.on('error', () => {});
  socket.once('data', () => {
    socket.write('S');
    new TLSSocket(socket, { isServer: true, ...selfSigned() }).on('error', () => {});
  });
}

async function listen(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), startTestRedis()]);
  taken = await listen(createServer());
  untrustedPostgres = await listen(createServer(startTlsAsPostgres));
  untrusted = await listen(createTlsServer(selfSigned(), (socket) => socket.on('error', () => {})));
});
afterAll(async () => {
  for (const server of servers) server.close();
  await Promise.all([database.close(), redis.close()]);
});

function environment(changes: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...bareEnvironment(),
    ...compileCache,
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: database.databaseUrl,
    REDIS_URL: redis.redisUrl,
    SVC_MASTER_KEY: testMasterKey(),
    BIND_HOST: '127.0.0.1',
    ADMIN_PORT: '0',
    GATEWAY_PORT: '0',
    NODE_LINK_PORT: '0',
    ...changes,
  };
}

function changedUrl(change: (url: URL) => void): string {
  const url = new URL(database.databaseUrl);
  change(url);
  return url.href;
}

const mistakes: Readonly<Record<string, () => NodeJS.ProcessEnv>> = {
  'unknown database': () => ({
    DATABASE_URL: changedUrl((url) => void (url.pathname = '/no_such_database')),
  }),
  'unknown user': () => ({
    DATABASE_URL: changedUrl((url) => {
      url.username = 'no_such_user';
      url.password = 'wrong';
    }),
  }),
  'wrong password': () => ({
    DATABASE_URL: changedUrl((url) => void (url.password = 'wrong')),
  }),
  'untrusted certificate of Postgres': () => ({
    DATABASE_URL: `postgresql://svc:x@localhost:${untrustedPostgres}/svc?sslmode=verify-full`,
  }),
  'no TLS at Postgres': () => ({
    DATABASE_URL: changedUrl((url) => url.searchParams.set('sslmode', 'verify-full')),
  }),
  'missing file of an authority': () => ({
    DATABASE_URL: changedUrl((url) => url.searchParams.set('sslrootcert', '/nonexistent/ca.pem')),
  }),
  'broken percent-encoding': () => ({ DATABASE_URL: 'postgresql://user:%zz@127.0.0.1:1/svc' }),
  'broken port': () => ({ DATABASE_URL: 'postgresql://user@127.0.0.1:99999/svc' }),
  'short key': () => ({ SVC_MASTER_KEY: 'short' }),
};

const wrongRedisPassword = () => ({
  REDIS_URL: redis.redisUrl.replace(/\/\/([^@]*@)?/, '//nobody:wrong@'),
});

const mistakesOfServices: typeof mistakes = {
  ...mistakes,
  'broken Redis URL': () => ({ REDIS_URL: 'redis://:%zz@127.0.0.1:1' }),
  'wrong password of Redis': wrongRedisPassword,
  'untrusted certificate of Redis': () => ({ REDIS_URL: `rediss://localhost:${untrusted}` }),
  'port in use': () => ({ ADMIN_PORT: `${taken}` }),
};

const listeners: Readonly<Record<string, NodeJS.ProcessEnv>> = {
  gateway: { TLS_CERT_FILE: '/nonexistent/cert.pem', TLS_KEY_FILE: '/nonexistent/key.pem' },
  dispatcher: {
    NODE_LINK_TLS_CERT_FILE: '/nonexistent/cert.pem',
    NODE_LINK_TLS_KEY_FILE: '/nonexistent/key.pem',
  },
};

const cases = [
  ...Object.entries(mistakesOfServices).map(([name, env]) => ['settlement', name, env] as const),
  ...['gateway', 'dispatcher', 'webhooks'].map(
    (service) => [service, 'unknown database', mistakes['unknown database']] as const,
  ),
  [
    'webhooks',
    'block with a bit after its prefix',
    () => ({ OUTBOUND_DENY_CIDRS: '203.0.112.7/24' }),
  ] as const,
  ['gateway', 'port in use', () => ({ GATEWAY_PORT: `${taken}` })] as const,
  ['dispatcher', 'port in use', () => ({ NODE_LINK_PORT: `${taken}` })] as const,
  ...Object.entries(listeners).map(([name, env]) => [name, 'unreadable file', () => env] as const),
];

test.concurrent.each(cases)('%s refuses to start: %s', async (service, _, changesOf) => {
  const changes = changesOf?.() ?? {};
  const child = spawn(process.execPath, [`services/${service}/src/main.ts`], {
    cwd: checkoutDir,
    env: environment(changes),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  const last: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  const name = Object.keys(changes)[0];
  expect(last).toMatchObject({
    level: 'fatal',
    event: 'process.cannot_start',
    msg: expect.stringContaining(String(name)),
  });
  expect(`${stdout}${stderr}`).not.toMatch(/\n? +at .*:\d+:\d+/);
  expect(child.exitCode).toBe(2);
});

test.concurrent.each(
  Object.entries(mistakes).flatMap(([name, env]) => [
    ['tenant list', name, env] as const,
    ...(name === 'short key' ? [] : [['migrate --plan', name, env] as const]),
  ]),
)('svc %s says what to correct: %s', async (words, _, changesOf) => {
  const changes = changesOf();
  const { code, stdout, stderr } = await runSvcProcess(words.split(' '), environment(changes));
  expect(stderr).toContain(Object.keys(changes)[0]);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

test.concurrent.each(['doctor', 'status'])(
  'svc %s names a wrong password of Redis',
  async (word) => {
    const { stdout } = await runSvcProcess([word], environment(wrongRedisPassword()));
    expect(stdout).toContain('Redis refuses the user name or the password in REDIS_URL.');
  },
);
