import {
  type AccountFigures,
  microsPerCredit,
  type Movement,
  planEnding,
  planGrant,
  planHold,
} from '@svc/domain';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cancelSubmission } from '../endings/endings.ts';
import { createFixture, type Fixture, newSubmission } from '../store.fixture.ts';
import { type HoldOutcome, holdSubmissions } from './hold.ts';

interface HoldRequest {
  readonly tenant: number;
  readonly key: number;
  readonly max: number;
}

/**
 * First, each tenant of `cancels` cancels its oldest submission in flight. Then the holds of
 * `requests` are placed in one batch.
 */
interface Round {
  readonly cancels: readonly number[];
  readonly requests: readonly HoldRequest[];
}

const tenantCount = 3;
const creditsGranted = 100;
const tenant = fc.nat({ max: tenantCount - 1 });
const holdRequest: fc.Arbitrary<HoldRequest> = fc.record({
  tenant,
  key: fc.nat({ max: 7 }),
  max: fc.integer({ min: 0, max: 60 }),
});
const rounds: fc.Arbitrary<Round[]> = fc.array(
  fc.record({
    cancels: fc.uniqueArray(tenant, { maxLength: tenantCount }),
    requests: fc.array(holdRequest, { minLength: 1, maxLength: 12 }),
  }),
  { minLength: 1, maxLength: 4 },
);

const micros = (credits: number): bigint => BigInt(credits) * microsPerCredit;

class PlannedAccount {
  readonly movements: Movement[] = [];
  figures: AccountFigures = { balanceMicros: 0n, heldMicros: 0n, rebateAccruedMicros: 0n };
  readonly #keys = new Set<number>();

  constructor() {
    this.#post(planGrant(this.figures, micros(creditsGranted)));
  }

  hold({ key, max }: HoldRequest): Partial<HoldOutcome> {
    if (this.#keys.has(key)) return { kind: 'key_taken' };
    const plan = planHold(this.figures, micros(max));
    if (plan.kind === 'insufficient_credits') return { kind: plan.kind };
    this.#post(plan);
    this.#keys.add(key);
    const { balanceMicros, heldMicros } = this.figures;
    return { kind: 'held', availableAfterMicros: balanceMicros - heldMicros };
  }

  cancel(heldMicros: bigint): void {
    const ending = { heldMicros, chargeMicros: 0n, rebateMillionths: 0n };
    this.#post(planEnding(this.figures, ending));
  }

  #post({ movements, after }: { movements: readonly Movement[]; after: AccountFigures }): void {
    this.movements.push(...movements);
    this.figures = after;
  }
}

/** `inFlight` has the oldest submission first. */
interface Tenant {
  readonly id: string;
  readonly planned: PlannedAccount;
  readonly inFlight: { readonly id: string; readonly maxMicros: bigint }[];
}

async function cancelOldest({ store }: Fixture, { id: tenantId, planned, inFlight }: Tenant) {
  const oldest = inFlight.shift();
  if (oldest === undefined) return;
  planned.cancel(oldest.maxMicros);
  await cancelSubmission(store, { submissionId: oldest.id, tenantId, by: 'tenant' });
}

async function placeAsPlanned(
  { store }: Fixture,
  tenants: readonly Tenant[],
  requests: readonly HoldRequest[],
): Promise<void> {
  const places = requests.flatMap((request) => {
    const found = tenants[request.tenant];
    return found === undefined ? [] : [{ request, tenant: found }];
  });
  const submissions = await Promise.all(
    places.map(({ request: { key, max }, tenant: { id } }) =>
      newSubmission(store, id, { key: `${key}`, max }),
    ),
  );
  const outcomes = await holdSubmissions(store, submissions);
  const seen = new Set<string>();
  for (const [index, { request, tenant: owner }] of places.entries()) {
    const name = `${request.tenant} ${request.key}`;
    // If a batch repeats a key of a tenant, only the first request can get the hold. The others get
    // `key_taken`, even if the first hold was refused.
    const planned = seen.has(name) ? { kind: 'key_taken' } : owner.planned.hold(request);
    seen.add(name);
    expect(outcomes[index]).toMatchObject(planned);
    const id = submissions[index]?.id ?? '';
    if (planned.kind === 'held') owner.inFlight.push({ id, maxMicros: micros(request.max) });
  }
}

async function stored({ database }: Fixture, tenantId: string) {
  const movements = await database.query(
    `SELECT type, debit_account AS debit, credit_account AS credit, amount_micros AS amount,
       balance_after_micros AS balance, held_after_micros AS held
     FROM ledger_entries WHERE tenant_id = $1 ORDER BY sequence`,
    [tenantId],
  );
  const [figures] = await database.query(
    `SELECT balance_micros AS balance, held_micros AS held, in_flight AS "inFlight"
     FROM credit_accounts WHERE tenant_id = $1`,
    [tenantId],
  );
  return { movements, figures };
}

function expected({ planned, inFlight }: Tenant) {
  const movements = planned.movements.map(({ type, debit, credit, amountMicros, after }) => {
    return { type, debit, credit, amount: `${amountMicros}`, ...textsOf(after) };
  });
  return { movements, figures: { ...textsOf(planned.figures), inFlight: inFlight.length } };
}

function textsOf({ balanceMicros, heldMicros }: AccountFigures) {
  return { balance: `${balanceMicros}`, held: `${heldMicros}` };
}

test('batches of holds and cancels have the outcomes, entries and balances that the domain plans', async () => {
  const fixture = await createFixture();
  await fc.assert(
    fc.asyncProperty(rounds, async (life) => {
      const ids = await Promise.all(
        Array.from({ length: tenantCount }, () => fixture.tenant(creditsGranted)),
      );
      const tenants = ids.map((id) => ({ id, planned: new PlannedAccount(), inFlight: [] }));
      for (const { cancels, requests } of life) {
        for (const index of cancels) {
          const owner = tenants[index];
          if (owner !== undefined) await cancelOldest(fixture, owner);
        }
        await placeAsPlanned(fixture, tenants, requests);
      }
      for (const one of tenants) expect(await stored(fixture, one.id)).toEqual(expected(one));
    }),
    { numRuns: 40 },
  );
});
