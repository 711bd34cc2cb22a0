import type { Sealer } from '../connection/store.ts';
import { ledgerStart, type LedgerPlace } from '../ledger/ledger-audit-entries.ts';
import { firstId } from '../ledger/ledger-audit.ts';
import { faultsMax, type LedgerFault, type LedgerFaultKind } from '../ledger/ledger-fault.ts';
import { isUnknownKey } from '../sealing/key-holders.ts';
import { ledgerAuditPlace, unsealText } from '../sealing/sealed.ts';

/**
 * The state of the ledger audit is sealed, because the services' database role may write its row.
 * `step` counts the writes, so that an older state is recognised.
 */

/**
 * `recent`: the pass over the entries after each account's checkpoint. `full`: the pass over the
 * whole ledger and all submissions, without checkpoints.
 */
export type AuditPass = 'recent' | 'full';

interface FoundFault extends LedgerFault {
  readonly by: AuditPass;
  /**
   * The fault was last found during the pass with this number. Each kind of pass (`by`) has its own
   * numbers.
   */
  readonly pass: number;
}

export type FullPlace =
  | { readonly kind: 'entries'; readonly place: LedgerPlace }
  | { readonly kind: 'submissions'; readonly after: string };

export interface FullPass {
  readonly pass: number;
  readonly startedAt: Date;
  readonly place: FullPlace;
  readonly tenants: number;
  readonly submissions: number;
  /** The number of entries and submissions that this pass has read. */
  readonly rows: number;
}

export interface AuditState {
  readonly step: bigint;
  /**
   * Figures of the last `recent` pass, or of `saveWholeAudit` if that was later. `at` is null
   * before the first of these. `pass` counts only the `recent` passes that have ended.
   */
  readonly recent: { readonly pass: number; readonly at: Date | null; readonly tenants: number };
  readonly full: FullPass;
  readonly lastFull: {
    readonly at: Date;
    readonly tenants: number;
    readonly submissions: number;
  } | null;
  /**
   * At most `faultsMax` faults. When a pass ends, it removes the faults that only an earlier pass
   * of its kind found. `saveWholeAudit` replaces most kinds of faults.
   */
  readonly faults: readonly FoundFault[];
}

function firstState(now: Date): AuditState {
  return {
    step: 0n,
    recent: { pass: 0, at: null, tenants: 0 },
    full: fullPassFrom(1, now),
    lastFull: null,
    faults: [],
  };
}

export function fullPassFrom(pass: number, startedAt: Date): FullPass {
  const place = { kind: 'entries', place: ledgerStart } as const;
  return { pass, startedAt, place, tenants: 0, submissions: 0, rows: 0 };
}

const keyOf = ({ kind, subject }: LedgerFault) => `${kind} ${subject}`;

/**
 * Adds faults, up to `faultsMax` in total. If a known fault has the same kind, subject and kind of
 * pass (`by`), the new fault takes its place in the list.
 */
export function withFaults(
  state: AuditState,
  by: AuditPass,
  pass: number,
  found: readonly LedgerFault[],
): AuditState {
  const byKey = new Map(state.faults.map((fault) => [`${fault.by} ${keyOf(fault)}`, fault]));
  for (const fault of found) byKey.set(`${by} ${keyOf(fault)}`, { ...fault, by, pass });
  // Faults that only an earlier pass of this kind found are dropped first. The end of this pass
  // would remove them anyway, unless the pass finds them again.
  const isEarlier = (fault: FoundFault) => Number(fault.by === by && fault.pass < pass);
  const faults = [...byKey.values()].toSorted((one, other) => isEarlier(one) - isEarlier(other));
  return { ...state, faults: faults.slice(0, faultsMax) };
}

export function withoutEarlier(state: AuditState, by: AuditPass, pass: number): AuditState {
  const faults = state.faults.filter((fault) => fault.by !== by || fault.pass >= pass);
  return { ...state, faults };
}

export function distinctFaults({ faults }: AuditState): LedgerFault[] {
  const byKey = new Map(faults.map(({ by: _by, pass: _pass, ...fault }) => [keyOf(fault), fault]));
  return [...byKey.values()];
}

export interface StateRow {
  readonly step: bigint;
  readonly state_sealed: Uint8Array | null;
  readonly has_checkpoints: boolean;
  readonly now: Date;
}

/**
 * Unseals the stored state, or returns the first state if none was stored yet. If the state cannot
 * be trusted, returns a new one with the fault `audit_state_forged`.
 */
export function openState(sealer: Sealer, row: StateRow, notedStep: bigint | null): AuditState {
  const { step, state_sealed: sealed, has_checkpoints: hasCheckpoints, now } = row;
  const forged = (detail: string): AuditState => {
    const kind: LedgerFaultKind = 'audit_state_forged';
    const fault = { kind, subject: firstId, tenantId: null, detail };
    const fresh = { ...firstState(now), step: step > (notedStep ?? 0n) ? step : (notedStep ?? 0n) };
    return withFaults(fresh, 'full', fresh.full.pass, [fault]);
  };
  if (notedStep !== null && step < notedStep)
    return forged('the stored state of the audit was replaced by an earlier one');
  if (sealed === null) {
    return step === 0n && !hasCheckpoints
      ? firstState(now)
      : forged('the stored state of the audit was removed');
  }
  try {
    const state = parseState(unsealText(sealer, ledgerAuditPlace(), sealed));
    return state.step === step
      ? state
      : forged('the stored state of the audit does not match the step number in its row');
  } catch (error) {
    // The state may be sound, but only a process with its key can say so. The audit fails.
    if (isUnknownKey(error)) throw error;
    return forged('the stored state of the audit cannot be unsealed or read');
  }
}

export function sealState(sealer: Sealer, state: AuditState): Uint8Array {
  return sealer.seal(ledgerAuditPlace(), JSON.stringify(state, shown));
}

const bigintText = /^-?\d+n$/;
const dateText = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/**
 * A replacer for `JSON.stringify`. Writes a bigint as a text such as `12n`. It gets dates as
 * RFC 3339 texts, because `JSON.stringify` converts them first.
 */
export function shown(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}

/**
 * The reverse of `shown`. It converts a text only if the whole text is a bigint or a date. The
 * detail of a fault is never such a text, so it stays a text.
 */
export function revived(_name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (bigintText.test(value)) return BigInt(value.slice(0, -1));
  return dateText.test(value) ? new Date(value) : value;
}

/** `sealState` has made the text, so its shape is known. */
function parseState(text: string): AuditState {
  return JSON.parse(text, revived);
}
