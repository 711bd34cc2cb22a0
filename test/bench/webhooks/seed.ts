import { randomBytes } from 'node:crypto';
import { newId } from '@svc/runtime';
import { newSecret } from '@svc/signing';
import { createTenant } from '@svc/store';
import { writeDeliveries } from '../../support/deliveries.ts';
import type { World } from './world.ts';

const bench = { actor: { kind: 'local', name: 'bench' }, requestId: 'bench' } as const;

export async function seedTenant({ store }: World, webhookUrl: string): Promise<string> {
  const id = newId();
  const tenant = {
    id,
    name: 'bench',
    allowedJobTypes: [],
    webhookUrl,
    hmacSecret: newSecret('hsk_test', randomBytes),
    webhookSecret: newSecret('whsec', randomBytes),
  };
  await createTenant(store, tenant, 0n, bench);
  return id;
}

export function seedDeliveries(
  { pool, store }: World,
  tenantIds: readonly string[],
  count: number,
): Promise<string[]> {
  const query = (sql: string, values: unknown[]) => pool.query(sql, values);
  return writeDeliveries({ sealer: store.sealer, query }, tenantIds, count);
}

export async function pendingCount({ pool }: World, tenantIds: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM deliveries WHERE status = 'pending' AND tenant_id = ANY($1)`,
    [tenantIds],
  );
  return rows[0]?.count ?? 0;
}
