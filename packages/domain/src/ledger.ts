import { assertInvariant } from './assert.ts';
import { roundHalfUpToMicros, decimalOf } from './decimal.ts';

/**
 * The accounts of the ledger. Their sum is always zero, because a movement takes an amount from one
 * account and adds the same amount to another.
 */
export type LedgerAccount = 'tenant_available' | 'tenant_held' | 'revenue' | 'issuance' | 'rebate';

export type MovementType =
  | 'grant'
  | 'hold'
  | 'charge'
  | 'release'
  | 'rebate_accrual'
  | 'rebate'
  | 'reversal';

/**
 * The movements that a tenant's statement shows (CONTRACT 5). It does not show a rebate accrual.
 */
export const statementTypes = [
  'grant',
  'hold',
  'charge',
  'release',
  'rebate',
  'reversal',
] as const satisfies readonly MovementType[];
export type StatementType = (typeof statementTypes)[number];

/**
 * The balances of a tenant: the sums of its movements. The tenant's row in `credit_accounts` stores
 * these sums.
 */
export interface AccountFigures {
  /** `tenant_available` plus `tenant_held` (CONTRACT 4). */
  readonly balanceMicros: bigint;
  readonly heldMicros: bigint;
  readonly rebateAccruedMicros: bigint;
}

/** A movement from `debit` to `credit`. `after` has the tenant's balances after the movement. */
export interface Movement {
  readonly type: MovementType;
  readonly debit: LedgerAccount;
  readonly credit: LedgerAccount;
  readonly amountMicros: bigint;
  readonly after: AccountFigures;
}

const accountsOf: Record<MovementType, { debit: LedgerAccount; credit: LedgerAccount }> = {
  grant: { debit: 'issuance', credit: 'tenant_available' },
  hold: { debit: 'tenant_available', credit: 'tenant_held' },
  charge: { debit: 'tenant_held', credit: 'revenue' },
  release: { debit: 'tenant_held', credit: 'tenant_available' },
  rebate_accrual: { debit: 'revenue', credit: 'rebate' },
  rebate: { debit: 'rebate', credit: 'tenant_available' },
  reversal: { debit: 'tenant_available', credit: 'issuance' },
};

/**
 * For each ledger account and each figure of the tenant: 1 if the credits in the account are part
 * of the figure, otherwise 0.
 */
const figuresOf: Record<LedgerAccount, { balance: bigint; held: bigint; rebate: bigint }> = {
  tenant_available: { balance: 1n, held: 0n, rebate: 0n },
  tenant_held: { balance: 1n, held: 1n, rebate: 0n },
  revenue: { balance: 0n, held: 0n, rebate: 0n },
  issuance: { balance: 0n, held: 0n, rebate: 0n },
  rebate: { balance: 0n, held: 0n, rebate: 1n },
};

function adjust(figures: AccountFigures, account: LedgerAccount, micros: bigint): AccountFigures {
  const part = figuresOf[account];
  return {
    balanceMicros: figures.balanceMicros + part.balance * micros,
    heldMicros: figures.heldMicros + part.held * micros,
    rebateAccruedMicros: figures.rebateAccruedMicros + part.rebate * micros,
  };
}

function assertSound(figures: AccountFigures): void {
  assertInvariant(figures.heldMicros >= 0n, 'the held credits are never negative');
  assertInvariant(
    figures.balanceMicros >= figures.heldMicros,
    'the held credits are never above the balance',
  );
  assertInvariant(figures.rebateAccruedMicros >= 0n, 'an accrued rebate is never negative');
}

/**
 * Throws InvariantError if the amount is not positive, or if an account of the tenant would become
 * negative.
 */
export function move(figures: AccountFigures, type: MovementType, amountMicros: bigint): Movement {
  assertInvariant(amountMicros > 0n, 'a movement has a positive amount');
  const { debit, credit } = accountsOf[type];
  const after = adjust(adjust(figures, debit, -amountMicros), credit, amountMicros);
  assertSound(after);
  return { type, debit, credit, amountMicros, after };
}

export type HoldPlan =
  | { readonly kind: 'planned'; readonly movements: Movement[]; readonly after: AccountFigures }
  | { readonly kind: 'insufficient_credits'; readonly requiredMicros: bigint };

/**
 * Plans a hold (CONTRACT 4), or returns `insufficient_credits` if the available credits do not
 * cover it. Throws InvariantError if the amount is negative.
 */
export function planHold(figures: AccountFigures, amountMicros: bigint): HoldPlan {
  assertInvariant(amountMicros >= 0n, 'a hold is never negative');
  if (figures.balanceMicros - figures.heldMicros < amountMicros) {
    return { kind: 'insufficient_credits', requiredMicros: amountMicros };
  }
  return { kind: 'planned', ...planAll(figures, [['hold', amountMicros]]) };
}

/**
 * Plans the movements that end a hold. An amount of zero makes no movement. Throws InvariantError
 * for a negative rebate, or if `0 <= charge <= hold <= figures.heldMicros` is false.
 */
export function planEnding(
  figures: AccountFigures,
  ending: {
    readonly heldMicros: bigint;
    readonly chargeMicros: bigint;
    /** The rebate is this many millionths of the charge, rounded half up. */
    readonly rebateMillionths: bigint;
  },
): { movements: Movement[]; after: AccountFigures } {
  const { heldMicros, chargeMicros, rebateMillionths } = ending;
  assertInvariant(chargeMicros >= 0n, 'a charge is never negative');
  assertInvariant(chargeMicros <= heldMicros, 'a charge is never above its hold');
  assertInvariant(
    heldMicros <= figures.heldMicros,
    'a hold is never above the held credits of its tenant',
  );
  assertInvariant(rebateMillionths >= 0n, 'a rebate is never negative');
  const rebateMicros = roundHalfUpToMicros(decimalOf(chargeMicros * rebateMillionths, 12));
  return planAll(figures, [
    ['charge', chargeMicros],
    ['release', heldMicros - chargeMicros],
    ['rebate_accrual', rebateMicros],
  ]);
}

/** Throws InvariantError if the amount is not positive. */
export function planGrant(
  figures: AccountFigures,
  amountMicros: bigint,
): { movements: Movement[]; after: AccountFigures } {
  assertInvariant(amountMicros > 0n, 'a grant is positive');
  return planAll(figures, [['grant', amountMicros]]);
}

function planAll(
  figures: AccountFigures,
  steps: readonly (readonly [MovementType, bigint])[],
): { movements: Movement[]; after: AccountFigures } {
  const movements: Movement[] = [];
  let after = figures;
  for (const [type, amountMicros] of steps) {
    if (amountMicros === 0n) continue;
    const movement = move(after, type, amountMicros);
    movements.push(movement);
    after = movement.after;
  }
  return { movements, after };
}

export function crossesLowBalance(
  beforeMicros: bigint,
  afterMicros: bigint,
  thresholdMicros: bigint,
): boolean {
  return beforeMicros >= thresholdMicros && afterMicros < thresholdMicros;
}

export function thresholdOvertakesBalance(
  thresholdBeforeMicros: bigint,
  thresholdAfterMicros: bigint,
  balanceMicros: bigint,
): boolean {
  return thresholdBeforeMicros <= balanceMicros && thresholdAfterMicros > balanceMicros;
}
