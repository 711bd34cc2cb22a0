import { queues, type JobOf, type QueueKey } from '@svc/contracts';

/**
 * The name of a dispatch job in BullMQ carries its tenants, because older dispatchers refuse
 * unknown members of the payload (decision 40).
 */

interface Named {
  readonly name: string;
  readonly data: JobOf[QueueKey];
}

export function withTenantsInName(key: QueueKey, job: JobOf[QueueKey]): Named {
  const { name } = queues[key];
  if (!('held' in job) || job.held === undefined) return { name, data: job };
  const each = job.held.each.map(({ heldAtMs, facts }) => ({ heldAtMs, facts }));
  const data = { ...job, held: { ...job.held, each } };
  const ids = job.held.each.map(({ tenantId }) => tenantId ?? '');
  const tenants = [...new Set(ids)];
  if (tenants.every((id) => id === '')) return { name, data };
  const of = ids.map((id) => tenants.indexOf(id));
  return { name: `${name} ${JSON.stringify({ tenants, of })}`, data };
}

/**
 * Undoes `withTenantsInName`. Returns the payload unchanged if the name does not have one entry for
 * each submission of `held`. The result may still violate the schema of the queue.
 */
export function withTenantsOfName(name: string, payload: unknown): unknown {
  const start = name.indexOf('{');
  if (start < 0 || !hasHeld(payload)) return payload;
  const tenantIds = tenantsOf(name.slice(start));
  const { held } = payload;
  if (tenantIds?.length !== held.each.length) return payload;
  const each = held.each.map((one, index) => {
    const tenantId = tenantIds[index];
    return tenantId === '' || !isObject(one) ? one : { ...one, tenantId };
  });
  return { ...payload, held: { ...held, each } };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function hasHeld(payload: unknown): payload is { readonly held: { readonly each: unknown[] } } {
  if (!isObject(payload) || !('held' in payload) || !isObject(payload.held)) return false;
  return 'each' in payload.held && Array.isArray(payload.held.each);
}

function tenantsOf(text: string): string[] | undefined {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(read) || !('tenants' in read) || !('of' in read)) return undefined;
  const { tenants, of } = read;
  if (!Array.isArray(tenants) || !Array.isArray(of)) return undefined;
  return of.map((index: unknown) => {
    const id: unknown = typeof index === 'number' ? tenants[index] : undefined;
    return typeof id === 'string' ? id : '';
  });
}
