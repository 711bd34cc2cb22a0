import {
  type Decimal,
  decimalOf,
  dispatchDeadlineMs,
  parseDecimal,
  type RateCard,
  rateCardToJson,
  type Usage,
  toWireId,
  usageUnits,
} from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import { answeredWithin } from '../connection/calls.ts';
import type { Store } from '../connection/store.ts';
import { listRateCards } from './rate-card-history.ts';

/**
 * The card in force: the tenant's card if it has one, otherwise the default. Null if there is none.
 */
export async function currentRateCard(store: Store, tenantId: string): Promise<RateCard | null> {
  const [own] = await listRateCards(store, tenantId, 1);
  const [inForce] = own === undefined ? await listRateCards(store, null, 1) : [own];
  return inForce?.card ?? null;
}

/**
 * Puts a card in force for one tenant, or as the default (tenant null). Returns its new version.
 * Quotes that exist keep the version of their card.
 */
export async function insertRateCard(
  store: Store,
  card: RateCard,
  tenantId: string | null,
  by: Author,
): Promise<number> {
  const json = JSON.stringify(rateCardToJson(card));
  return store.transaction(async (query) => {
    const [row] = await query<{ version: number }>(
      `INSERT INTO rate_cards (tenant_id, card, created_at)
       VALUES ($1::uuid, $2::jsonb, svc_now()) RETURNING version`,
      [tenantId, json],
    );
    if (row === undefined) throw new Error('the insert of a rate card returned no version');
    // The audit entry has only the version, because the card of a version is kept for ever.
    await appendAudit(query, by, {
      action: 'rate_card.apply',
      subject:
        tenantId === null
          ? { kind: 'service', id: 'rate-card' }
          : { kind: 'tenant', id: toWireId('tnt', tenantId) },
      before: null,
      after: { version: row.version },
    });
    return row.version;
  });
}

/**
 * The least number of submissions for an average of their usage. With fewer, `quote` estimates with
 * the field `typicalUsage` of the rate card instead.
 */
export const typicalUsageSettledMin = 20;

/**
 * The average usage of completed submissions whose usage did not exceed the cap, rounded to 3
 * decimals. Null if there are fewer than `typicalUsageSettledMin` such submissions.
 */
export async function typicalUsage(store: Store, jobType: string): Promise<Usage | null> {
  const asked = store.query<Record<string, string>>(
    `SELECT round(node_seconds / settled_count, 3)::text AS "nodeSeconds",
       round(cpu_seconds / settled_count, 3)::text AS "cpuSeconds",
       round(memory_gb_seconds / settled_count, 3)::text AS "memoryGbSeconds",
       round(bandwidth_mb / settled_count, 3)::text AS "bandwidthMb",
       round(actions / settled_count, 3)::text AS "actions"
     FROM job_type_usage WHERE job_type = $1 AND settled_count >= $2`,
    [jobType, typicalUsageSettledMin],
  );
  const [row] = await answeredWithin(dispatchDeadlineMs, asked);
  return row === undefined ? null : usageOfText(row);
}

/**
 * The usage from columns read as text. Leaves out a unit whose column is null. A negative amount
 * counts as 0. Throws if a text is not a decimal.
 */
export function usageOfText(row: Record<string, string | null | undefined>): Usage {
  const usage: Usage = {};
  for (const unit of usageUnits) {
    const text = row[unit];
    if (text !== null && text !== undefined) usage[unit] = decimalOfText(text);
  }
  return usage;
}

function decimalOfText(text: string): Decimal {
  const decimal = parseDecimal(text);
  if (decimal === undefined) throw new Error('a stored amount of usage is not a decimal number');
  return decimal.digits < 0n ? decimalOf(0n, 0) : decimal;
}
