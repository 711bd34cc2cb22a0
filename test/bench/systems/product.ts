import { toWireId } from '@svc/domain';
import { serviceNames, type ServiceName, type ServiceProcess } from '@svc/local';
import { startWorld } from '../load/children.ts';
import { readWritten } from './counters.ts';
import { createNodes, createTenants, openStack, type Stack } from './stack.ts';
import { lowestIdAt, type Span, type System, type SystemOptions } from './system.ts';

export interface ProductOptions extends SystemOptions {
  /** The number of processes of each service. The default is 1. */
  readonly each?: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Called with the ids of all tenants before any service starts. */
  readonly prepare?: (stack: Stack, tenantIds: readonly string[]) => Promise<void>;
}

export async function startProduct(options: ProductOptions): Promise<System> {
  const { env = {}, each = 1, prepare } = options;
  const stack = await openStack({ dir: options.dir, durable: true, env });
  const { pool, servers } = stack;
  const world = await startWorld();
  const { webhookUrl } = await world.ask({ kind: 'count' });
  const quiet = await createTenants(stack, options.tenants, null);
  const notified = await createTenants(stack, options.tenants, webhookUrl);
  await prepare?.(
    stack,
    [...quiet, ...notified].map(({ tenantId }) => tenantId),
  );
  const processes = new Map<ServiceName, readonly ServiceProcess[]>();
  const start = async (service: ServiceName): Promise<void> => {
    const started = await Promise.all(Array.from({ length: each }, () => stack.start(service)));
    processes.set(service, started);
  };
  for (const service of serviceNames) await start(service);
  const portsOf = (service: ServiceName): number[] =>
    (processes.get(service) ?? []).map(({ ready }) => ready.port ?? 0);
  return {
    name: each === 1 ? 'product' : `product, ${each} of each`,
    gatewayUrls: portsOf('gateway').map((port) => `http://127.0.0.1:${port}`),
    links: await createNodes(stack, options.nodes, portsOf('dispatcher')),
    world,
    quiet,
    notified,
    pids: () => ({
      ...Object.fromEntries(
        [...processes].map(([service, some]) => [service, some.map(({ pid }) => pid)]),
      ),
      postgres: [servers.postgres.pid],
      redis: [servers.redis.pid],
    }),
    written: () => readWritten(pool),
    async inFlight() {
      const { rows } = await pool.query<{ count: number }>(
        'SELECT COALESCE(sum(in_flight), 0)::int AS count FROM credit_accounts',
      );
      return rows[0]?.count ?? 0;
    },
    async endedSince(sinceMs) {
      const { rows } = await pool.query<Span>(
        `SELECT count(*)::int AS count, (extract(epoch FROM min(finished_at)) * 1000)::float8 AS "firstMs",
           (extract(epoch FROM max(finished_at)) * 1000)::float8 AS "lastMs"
         FROM submissions WHERE id >= $1 AND finished_at IS NOT NULL`,
        [lowestIdAt(sinceMs)],
      );
      return rows[0] ?? { count: 0, firstMs: 0, lastMs: 0 };
    },
    async deliveriesSince(sinceMs) {
      const { rows } = await pool.query<{ id: string; at: number }>(
        `SELECT id, (extract(epoch FROM created_at) * 1000)::float8 AS at FROM deliveries WHERE id >= $1`,
        [lowestIdAt(sinceMs)],
      );
      return new Map(rows.map(({ id, at }) => [toWireId('dlv', id), at]));
    },
    async stopService(service) {
      await Promise.all((processes.get(service) ?? []).map((one) => one.stop()));
    },
    startService: start,
    versions: () => servers.versions(),
    async close() {
      await stack.close();
      await world.close();
    },
  };
}
