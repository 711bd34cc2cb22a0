import { isTerminal, submissionTriggers, transition } from '@svc/domain';
import type { SubmissionState } from '@svc/domain';
import { grantedMicros } from '../world/rig.ts';
import type { Account, Row } from './rows.ts';

/**
 * True if the agent with the node's current link works on the submission. `key` is the submission's
 * idempotency key.
 */
export type IsWorkedOn = (nodeId: string, key: string) => boolean;

/**
 * Checks the rows of submissions and accounts after each step that committed something (CONTRACT 4,
 * 6 and 7).
 */
export class Auditor {
  readonly violations: string[] = [];
  rows = new Map<string, Row>();
  readonly #events = new Set<string>();
  /** How often a node began to act, by idempotency key. */
  readonly acted = new Map<string, number>();
  readonly #isWorkedOn: IsWorkedOn;

  constructor(isWorkedOn: IsWorkedOn) {
    this.#isWorkedOn = isWorkedOn;
  }

  complain(subject: string, what: string): void {
    this.violations.push(`${subject}: ${what}`);
  }

  began(key: string): void {
    const count = (this.acted.get(key) ?? 0) + 1;
    this.acted.set(key, count);
    if (count > 1) this.complain(key, `was executed ${count} times`);
  }

  look(rows: readonly Row[], accounts: readonly Account[]): void {
    const notified = new Map(accounts.map((account) => [account.tenant_id, account.notified]));
    for (const row of rows) {
      this.#lookAtPath(row, this.rows.get(row.id));
      this.#lookAtMoney(row);
      this.#lookAtEvents(row, notified.get(row.tenant_id) === true);
    }
    const live = rows.filter(({ state }) => state !== 'rejected');
    const keys = new Set(live.map(({ key }) => key));
    if (keys.size < live.length) this.complain('keys', 'a key has more than one submission');
    for (const account of accounts) this.#lookAtAccount(account, rows);
    this.rows = new Map(rows.map((row) => [row.id, row]));
  }

  #lookAtPath(row: Row, before: Row | undefined): void {
    const from = before?.state ?? 'pending';
    if (!reachable(from).has(row.state))
      this.complain(row.key, `went from ${from} to ${row.state}`);
    if (before !== undefined && before.node_id !== null && before.node_id !== row.node_id)
      this.complain(row.key, `was given to ${before.node_id}, then to ${row.node_id}`);
    const isGivenUp = row.failure_code === 'node_lost' && before?.failure_code !== 'node_lost';
    if (!isGivenUp || row.is_lease_over === true || row.node_id === null) return;
    if (this.#isWorkedOn(row.node_id, row.key))
      this.complain(row.key, 'failed as node_lost while its node works on it with a current link');
  }

  #lookAtMoney(row: Row): void {
    const { hold = 0, charge = 0, release = 0 } = row.movements ?? {};
    const charged = Number(row.charged ?? 0);
    const isOver = isTerminal(row.state);
    if (hold !== Number(row.max))
      this.complain(row.key, `its hold is ${hold}, but its quote.max is ${row.max}`);
    if (charge !== charged || charge + release !== (isOver ? hold : 0))
      this.complain(row.key, `${row.state}: held ${hold}, charged ${charge}, released ${release}`);
  }

  #lookAtEvents(row: Row, isNotified: boolean): void {
    const ends = (row.events ?? []).filter(({ type }) => type !== 'submission.late_outcome');
    const expected = isTerminal(row.state) && row.state !== 'rejected' ? 1 : 0;
    if (ends.length !== expected)
      this.complain(row.key, `has ${ends.length} end events in the state ${row.state}`);
    for (const { id, type, notified } of row.events ?? []) {
      if (this.#events.has(id)) continue;
      this.#events.add(id);
      if (notified === isNotified) continue;
      const url = isNotified
        ? 'the tenant had an enabled webhook URL'
        : 'the tenant had no enabled webhook URL';
      this.complain(row.key, `${type} has ${notified ? 'a' : 'no'} delivery, though ${url}`);
    }
  }

  #lookAtAccount({ tenant_id, balance, held, in_flight }: Account, rows: readonly Row[]): void {
    const own = rows.filter((row) => row.tenant_id === tenant_id);
    const inFlight = own.filter(({ state }) => !isTerminal(state));
    const heldDue = sumOf(inFlight.map(({ max }) => max));
    const balanceDue = grantedMicros - sumOf(own.map(({ charged }) => charged));
    if (BigInt(held) !== heldDue) this.complain('account', `holds ${held}, not ${heldDue}`);
    if (BigInt(balance) !== balanceDue)
      this.complain('account', `has the balance ${balance}, not ${balanceDue}`);
    if (in_flight !== inFlight.length)
      this.complain('account', `counts ${in_flight} submissions in flight, not ${inFlight.length}`);
  }

  lookAtEnd(): void {
    for (const { key, state } of this.rows.values()) {
      if (!isTerminal(state)) this.complain(key, `has not ended: its state is ${state}`);
      if (state === 'submitted' && !this.acted.has(key))
        this.complain(key, 'is submitted, but was never executed');
    }
  }
}

function sumOf(values: readonly (string | null)[]): bigint {
  return values.reduce((sum, value) => sum + BigInt(value ?? 0), 0n);
}

const closures = new Map<SubmissionState, ReadonlySet<SubmissionState>>();

/** The state `from`, and every state to which transitions of the domain can lead from there. */
function reachable(from: SubmissionState): ReadonlySet<SubmissionState> {
  const known = closures.get(from);
  if (known !== undefined) return known;
  const found = new Set<SubmissionState>([from]);
  for (const state of found) {
    for (const trigger of submissionTriggers) {
      const moved = transition(state, trigger);
      if (moved.kind === 'moved') found.add(moved.to);
    }
  }
  closures.set(from, found);
  return found;
}
