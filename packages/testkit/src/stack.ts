import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  adminCliEntry,
  createNode,
  nodeAgentCommand,
  type ServiceName,
  serviceEnvironment,
  serviceNames,
} from '@svc/local';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { createFailpoints, type Failpoints } from './failpoints.ts';
import { track } from './open-resources.ts';
import { startTestRedis, type TestRedis } from './redis.ts';
import { selfSigned } from './self-signed.ts';
import { describeLogs, endStack } from './stack-end.ts';
import { nodeLinkUrl, stackHandle } from './stack-handle.ts';
import { entryUnderTest, type Slot, startNodeSlot, startSlot } from './stack-processes.ts';
import type { StackOptions, TestStack } from './stack-types.ts';
import { svcJson } from './svc.ts';
import { bareEnvironment, testMasterKey } from './test-environment.ts';

/**
 * A quarter of the default, because tests wait for reconcilers. It is not shorter: at 100 ms the
 * reconcilers of a stack would take most of the CPU while a test waits.
 */
const reconcileIntervalMs = 250;

const pinSurgeSql = `INSERT INTO surge_pin (id, pinned_micros, changed_at) VALUES (1, 1000000, svc_now())`;

/**
 * Starts a stack. If a service or a node does not start, stops the whole stack, and throws an error
 * with the end of the log of that process.
 */
export async function startStack(options: StackOptions = {}): Promise<TestStack> {
  const createDatabase = options.database ?? createTestDatabase;
  const [database, redis] = await Promise.all([createDatabase(), startTestRedis()]);
  const failpoints = createFailpoints();
  const slots: Slot[] = [];
  const nodesDir = mkdtempSync(path.join(tmpdir(), 'svc-test-nodes-'));
  const tls = options.tls === true ? writeCertificate(nodesDir) : { ca: undefined, env: {} };
  const close = track({
    what: 'a stack',
    logs: () => slots.map(describeLogs).join('\n'),
    async close() {
      failpoints.releaseAll();
      await endStack({ slots, database, redis });
      rmSync(nodesDir, { recursive: true, force: true });
    },
  });
  try {
    // Pins the surge at 1. Prices then do not depend on busy nodes until a test runs `svc surge
    // auto`.
    await database.query(pinSurgeSql);
    const env = { ...stackEnvironment(database, redis, options), ...tls.env };
    await startServices(slots, env, options, failpoints);
    await startNodes(slots, env, options.nodes ?? 0, nodesDir);
    return stackHandle({ slots, database, redis, failpoints, env, ca: tls.ca, close });
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

function writeCertificate(dir: string): { ca: string; env: Record<string, string> } {
  const { cert, key } = selfSigned();
  const certFile = path.join(dir, 'cert.pem');
  const keyFile = path.join(dir, 'key.pem');
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const env = {
    TLS_CERT_FILE: certFile,
    TLS_KEY_FILE: keyFile,
    NODE_LINK_TLS_CERT_FILE: certFile,
    NODE_LINK_TLS_KEY_FILE: keyFile,
  };
  return { ca: cert, env };
}

function stackEnvironment(
  { databaseUrl }: TestDatabase,
  { redisUrl }: TestRedis,
  { env, failpoints }: StackOptions,
): NodeJS.ProcessEnv {
  return {
    ...bareEnvironment(),
    ...serviceEnvironment({ databaseUrl, redisUrl, masterKey: testMasterKey() }),
    GATEWAY_PORT: '0',
    NODE_LINK_PORT: '0',
    ADMIN_PORT: '0',
    SVC_FAILPOINTS: failpoints === true ? 'on' : '',
    RECONCILE_INTERVAL_MS: `${reconcileIntervalMs}`,
    SVC_CLI_ENTRY: entryUnderTest(adminCliEntry),
    ...env,
  };
}

async function startServices(
  slots: Slot[],
  env: NodeJS.ProcessEnv,
  options: StackOptions,
  failpoints: Failpoints,
): Promise<void> {
  const counts: Record<ServiceName, number> = {
    gateway: options.gateways ?? 1,
    dispatcher: options.dispatchers ?? 1,
    settlement: options.settlements ?? 1,
    webhooks: options.webhooks ?? 1,
  };
  const plans = serviceNames.flatMap((service) =>
    Array.from({ length: counts[service] }, (_, index) => ({
      service,
      index,
      env,
      envAt: options.envAt,
    })),
  );
  await allEnded(plans.map(async (plan) => slots.push(await startSlot(plan, failpoints))));
  slots.sort((one, other) => one.index - other.index);
}

async function startNodes(
  slots: Slot[],
  env: NodeJS.ProcessEnv,
  count: number,
  stateDir: string,
): Promise<void> {
  const dispatchers = slots.filter(({ service }) => service === 'dispatcher');
  const starts = Array.from({ length: count }, async (_, index) => {
    const dispatcher = dispatchers[index % dispatchers.length];
    if (dispatcher === undefined) throw new Error('a stack with nodes needs a dispatcher');
    const name = `node ${index}`;
    const credentials = await createNode(name, env, undefined, svcJson);
    const link = nodeLinkUrl(dispatcher, false);
    slots.push(await startNodeSlot(index, nodeAgentCommand({ name, link, credentials, stateDir })));
  });
  await allEnded(starts);
}

/**
 * Waits until all starts have ended, then throws if one has failed. If it threw earlier, the stack
 * would close without the processes that are still starting.
 */
async function allEnded(starts: readonly Promise<unknown>[]): Promise<void> {
  const failure = (await Promise.allSettled(starts)).find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
}
