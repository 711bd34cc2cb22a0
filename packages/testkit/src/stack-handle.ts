import { createNode, createTenant, type ServiceName } from '@svc/local';
import { advanceDatabaseClock } from './database-clock.ts';
import type { TestDatabase } from './database.ts';
import type { Failpoints } from './failpoints.ts';
import type { TestRedis } from './redis.ts';
import type { Slot } from './stack-processes.ts';
import type { TestStack } from './stack-types.ts';
import { svcJson } from './svc.ts';

const failpointMsDefault = 10_000;

export interface StackParts {
  readonly slots: readonly Slot[];
  readonly database: TestDatabase;
  readonly redis: TestRedis;
  readonly failpoints: Failpoints;
  readonly env: NodeJS.ProcessEnv;
  /** The certificate authority of gateways and dispatchers, as PEM; undefined without TLS. */
  readonly ca: string | undefined;
  readonly close: () => Promise<void>;
}

/**
 * The slot limit of the nodes that `createNode` of the stack creates. It is `slotsMaxMax`, the
 * highest limit that a node can have.
 */
const slotsPerNode = 200;

export function stackHandle(parts: StackParts): TestStack {
  const { slots, database, redis, failpoints, env, ca, close } = parts;
  const find = (service: Slot['service'], index = 0): Slot => {
    const slot = slots.find((one) => one.service === service && one.index === index);
    if (slot === undefined) throw new Error(`the stack has no ${service} ${index}`);
    return slot;
  };
  const urls = (service: ServiceName, urlOf: (slot: Slot) => string) =>
    slots.filter((slot) => slot.service === service).map(urlOf);
  const gatewayUrls = urls('gateway', (slot) => gatewayUrl(slot, ca !== undefined));
  const nodeLinkUrls = urls('dispatcher', (slot) => nodeLinkUrl(slot, ca !== undefined));
  return {
    gatewayUrl: gatewayUrls[0] ?? '',
    gatewayUrls,
    nodeLinkUrl: nodeLinkUrls[0] ?? '',
    nodeLinkUrls,
    ca,
    databaseUrl: database.databaseUrl,
    redisUrl: redis.redisUrl,
    query: database.query,
    adminUrl: (service, index) =>
      `http://127.0.0.1:${find(service, index).current.ready.adminPort}`,
    pid: (service, index) => find(service, index).current.pid,
    svc: (words) => svcJson(words, env),
    createTenant: (tenant = {}) =>
      createTenant({ name: 'Tenant under test', ...tenant }, env, svcJson),
    createNode: (name = 'node under test') => createNode(name, env, slotsPerNode, svcJson),
    kill: (service, index) => find(service, index).current.kill(),
    stop: (service, index) => find(service, index).current.stop(),
    restart: (service, index) => find(service, index).restart(),
    armFailpoint: (service, name) =>
      failpoints.arm(
        slots.filter((slot) => slot.service === service),
        name,
      ),
    failpointReached: (service, name, { timeoutMs = failpointMsDefault } = {}) =>
      failpoints.reached(service, name, timeoutMs),
    releaseFailpoint: (service, name) => failpoints.release(service, name),
    flushRedis: () => redis.flush(),
    advanceClock: (ms) => advanceDatabaseClock(database.databaseUrl, ms),
    logs: (service, index) => find(service, index).current.logs(),
    close,
  };
}

function gatewayUrl(gateway: Slot, isTls: boolean): string {
  return `${isTls ? 'https' : 'http'}://127.0.0.1:${gateway.current.ready.port}`;
}

/** The address that nodes connect to (CONTRACT 7). */
export function nodeLinkUrl(dispatcher: Slot, isTls: boolean): string {
  return `${isTls ? 'wss' : 'ws'}://127.0.0.1:${dispatcher.current.ready.port}/node/v1`;
}
