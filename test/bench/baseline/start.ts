import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { toWireId } from '@svc/domain';
import { type ServiceProcess, startServiceProcess } from '@svc/local';
import { newId } from '@svc/runtime';
import { newSecret } from '@svc/signing';
import { createBaselineTables, openPool } from './database.ts';

interface BaselineTenant {
  readonly tenantId: string;
  readonly hmacSecret: string;
  readonly webhookSecret: string;
}

export interface Baseline {
  readonly gatewayUrl: string;
  readonly nodeLinkUrl: string;
  readonly processes: readonly ServiceProcess[];
  createTenant(options: { webhookUrl: string | null; credits: number }): Promise<BaselineTenant>;
  close(): Promise<void>;
}

const serviceNames = ['gateway', 'dispatcher', 'settlement', 'webhooks'] as const;
const micros = 1_000_000;

/**
 * Starts the baseline: the plainest way from a post to its webhook (docs/PERFORMANCE.md). It must
 * not change, because many figures of the bench are ratios to it.
 */
export async function startBaseline(servers: {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly env?: NodeJS.ProcessEnv;
}): Promise<Baseline> {
  const pool = openPool(servers.databaseUrl);
  await createBaselineTables(pool);
  const env = {
    ...process.env,
    ...servers.env,
    DATABASE_URL: servers.databaseUrl,
    REDIS_URL: servers.redisUrl,
  };
  const processes = await Promise.all(
    serviceNames.map((name) =>
      startServiceProcess({
        name: `baseline ${name}`,
        entry: path.join(import.meta.dirname, `${name}.ts`),
        env,
      }),
    ),
  );
  const portOf = (index: number) => processes[index]?.ready.port ?? 0;
  return {
    gatewayUrl: `http://127.0.0.1:${portOf(0)}`,
    nodeLinkUrl: `ws://127.0.0.1:${portOf(1)}/node/v1`,
    processes,
    async createTenant({ webhookUrl, credits }) {
      const id = newId();
      const hmacSecret = newSecret('hsk_test', randomBytes);
      const webhookSecret = newSecret('whsec', randomBytes);
      await pool.query('INSERT INTO tenants VALUES ($1, $2, $3, $4)', [
        id,
        hmacSecret,
        webhookSecret,
        webhookUrl,
      ]);
      await pool.query('INSERT INTO accounts VALUES ($1, $2)', [id, credits * micros]);
      return { tenantId: toWireId('tnt', id), hmacSecret, webhookSecret };
    },
    async close() {
      await Promise.all(processes.map((one) => one.kill()));
      await pool.end();
    },
  };
}
