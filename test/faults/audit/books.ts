import { type Json, microsOf, objectOf, textOf } from '../load/json.ts';
import type { LoadTenant } from '../load/tenant.ts';
import type { World } from '../world/types.ts';
import { readList, readObject } from './read.ts';

/** A submission as its tenant reads it at the end of the run. */
export interface FinalRecord {
  readonly tenant: LoadTenant;
  readonly id: string;
  readonly key: string;
  readonly status: string;
  readonly tier: string;
  readonly quote: Json;
  readonly maxMicros: bigint;
  readonly surgeMicros: bigint;
  readonly chargedMicros: bigint;
  readonly refundedMicros: bigint;
  readonly usage: Json;
  readonly failureCode: string | null;
  readonly lateStatus: string | null;
  readonly dispatchedAt: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export interface TenantBooks {
  readonly tenant: LoadTenant;
  readonly balance: Json;
  readonly records: readonly FinalRecord[];
  /** The account statement, with the newest line first. */
  readonly statement: readonly Json[];
  readonly deliveries: readonly Json[];
}

export async function readBooks(world: World, tenant: LoadTenant): Promise<TenantBooks> {
  const [records, statement, deliveries] = await Promise.all([
    readList(world, tenant, '/v1/submissions'),
    readList(world, tenant, '/v1/credits/transactions'),
    readList(world, tenant, '/v1/webhooks/deliveries'),
  ]);
  return {
    tenant,
    balance: await readObject(world, tenant, '/v1/credits/balance'),
    records: records.map((record) => finalRecord(tenant, record)),
    statement,
    deliveries,
  };
}

function finalRecord(tenant: LoadTenant, record: Json): FinalRecord {
  const quote = objectOf(record['quote']);
  return {
    tenant,
    id: textOf(record['id']) ?? '',
    key: textOf(record['idempotencyKey']) ?? '',
    status: textOf(record['status']) ?? '',
    tier: textOf(record['tier']) ?? '',
    quote,
    maxMicros: microsOf(quote['max']),
    surgeMicros: microsOf(quote['surge']),
    chargedMicros: microsOf(record['actualCredits']),
    refundedMicros: microsOf(record['refundedCredits']),
    usage: objectOf(record['usage']),
    failureCode: textOf(objectOf(record['failure'])['code']),
    lateStatus: textOf(objectOf(record['lateOutcome'])['status']),
    dispatchedAt: textOf(record['dispatchedAt']),
    startedAt: textOf(record['startedAt']),
    finishedAt: textOf(record['finishedAt']),
  };
}

export function inWords(record: FinalRecord | undefined): string {
  if (record === undefined) return 'nothing';
  const { tenant, ...own } = record;
  return JSON.stringify({ tenant: tenant.name, ...own }, (_name, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
}
