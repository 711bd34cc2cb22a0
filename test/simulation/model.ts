import type { Operation, Outcome, SubmissionFact } from './operations.ts';

export interface SubmissionModel {
  readonly id: string;
  readonly tenantId: string;
  readonly key: string;
  readonly maxMicros: bigint;
  state: string;
  chargedMicros: bigint;
  /** The highest number of actions in a report that the service accepted. */
  actions: number;
}

export interface TenantModel {
  readonly id: string;
  grantedMicros: bigint;
  rebatePaidMicros: bigint;
  readonly rebateMillionths: bigint;
}

const inFlight = new Set(['pending', 'dispatched', 'running', 'settling']);
const order = ['pending', 'dispatched', 'running', 'settling'];

/**
 * Predicts the balances of tenants and the states of submissions from the outcomes of operations.
 */
export class Model {
  readonly tenants = new Map<string, TenantModel>();
  readonly submissions = new Map<string, SubmissionModel>();
  readonly references = new Set<string>();
  readonly complaints: string[] = [];
  /**
   * Facts about submissions that are not in `submissions` yet. `addSubmission` passes them to
   * `note`.
   */
  private readonly earlyFacts = new Map<string, SubmissionFact[]>();
  private readonly earlyActions = new Map<string, number>();
  private readonly ended: SubmissionModel[] = [];

  learn(operation: Operation, outcome: Outcome): void {
    if (operation.kind === 'hold' && outcome.result === 'held') this.addSubmission(operation);
    if (operation.kind === 'grant' && outcome.result === 'granted') this.addGrant(operation);
    if (operation.kind === 'quote') this.checkQuote(outcome);
    if (operation.kind === 'payRebate') {
      const tenant = this.tenants.get(operation.tenantId);
      if (tenant !== undefined) tenant.rebatePaidMicros += BigInt(outcome.paidMicros ?? 0);
    }
    if (operation.kind === 'usage' && outcome.result === 'recorded')
      this.noteActions(operation.submissionId, operation.actions);
    if (operation.kind === 'complete' && outcome.result === 'stored')
      this.noteActions(operation.submissionId, operation.actions);
    for (const fact of outcome.facts) this.note(fact);
  }

  /**
   * By the default rate card, the tier `standard` has a base price of 20 credits and a maximum of
   * 200 credits.
   */
  private checkQuote({ result, quoted }: Outcome): void {
    const estimated = BigInt(quoted?.estimatedMicros ?? -1);
    const fits = quoted?.maxMicros === '200000000' && estimated >= 20_000_000n;
    if (!fits || estimated > 200_000_000n)
      this.complaints.push(
        `a quote is wrong: the result is ${result}, estimated is ${quoted?.estimatedMicros} micros and max is ${quoted?.maxMicros} micros`,
      );
  }

  addSubmission(operation: Extract<Operation, { kind: 'hold' }>): void {
    const { submissionId: id, tenantId, key } = operation;
    if (this.submissions.has(id)) return;
    this.submissions.set(id, {
      id,
      tenantId,
      key,
      maxMicros: BigInt(operation.maxMicros),
      state: 'pending',
      chargedMicros: 0n,
      actions: this.earlyActions.get(id) ?? 0,
    });
    for (const fact of this.earlyFacts.get(id) ?? []) this.note(fact);
    this.earlyFacts.delete(id);
    this.earlyActions.delete(id);
  }

  addGrant(operation: Extract<Operation, { kind: 'grant' }>): void {
    const tenant = this.tenants.get(operation.tenantId);
    if (tenant === undefined || this.references.has(operation.reference)) return;
    this.references.add(operation.reference);
    tenant.grantedMicros += BigInt(operation.micros);
  }

  noteActions(submissionId: string, actions: number): void {
    const submission = this.submissions.get(submissionId);
    const before = submission?.actions ?? this.earlyActions.get(submissionId) ?? 0;
    const most = Math.max(before, actions);
    if (submission === undefined) this.earlyActions.set(submissionId, most);
    else submission.actions = most;
  }

  /**
   * Records a fact. A fact with an earlier state than the known one is ignored, because facts may
   * arrive in any order. A second end with another state or charge is a complaint.
   */
  note(fact: SubmissionFact): void {
    const { submissionId, state, chargedMicros } = fact;
    const submission = this.submissions.get(submissionId);
    if (submission === undefined) {
      this.earlyFacts.set(submissionId, [...(this.earlyFacts.get(submissionId) ?? []), fact]);
      return;
    }
    if (!inFlight.has(submission.state)) {
      const same =
        submission.state === state && submission.chargedMicros === BigInt(chargedMicros ?? 0);
      if (!inFlight.has(state) && !same)
        this.complaints.push(`${submissionId} ended as ${submission.state}, then as ${state}`);
      return;
    }
    if (inFlight.has(state) && order.indexOf(state) < order.indexOf(submission.state)) return;
    submission.state = state;
    submission.chargedMicros = BigInt(chargedMicros ?? 0);
    if (!inFlight.has(state)) this.ended.push(submission);
  }

  /**
   * Checks the charges of the submissions that have ended since the last call. Call it only when
   * the model knows the result of every operation.
   */
  checkEnded(): void {
    for (const submission of this.ended.splice(0)) this.checkCharge(submission);
  }

  private checkCharge({ id, state, chargedMicros, maxMicros, actions }: SubmissionModel): void {
    if (chargedMicros > maxMicros) this.complaints.push(`${id} was charged more than its hold`);
    if (state === 'failed' && chargedMicros !== 0n)
      this.complaints.push(`${id} failed, but was charged`);
    if (state !== 'submitted') return;
    // The charge in micros by the default rate card, in the tier `standard`. The simulation uses
    // only this tier and reports only actions.
    const due = Math.min(Math.max(20 + actions * 0.5, 10), 200) * 1e6;
    if (chargedMicros !== BigInt(due))
      this.complaints.push(`${id} was charged ${chargedMicros} for ${actions} actions, not ${due}`);
  }

  expected(tenant: TenantModel): { balance: bigint; held: bigint; rebate: bigint } {
    let charged = 0n;
    let held = 0n;
    let accrued = 0n;
    for (const submission of this.submissions.values()) {
      if (submission.tenantId !== tenant.id) continue;
      if (inFlight.has(submission.state)) held += submission.maxMicros;
      charged += submission.chargedMicros;
      accrued +=
        (submission.chargedMicros * tenant.rebateMillionths * 2n + 1_000_000n) / 2_000_000n;
    }
    return {
      balance: tenant.grantedMicros + tenant.rebatePaidMicros - charged,
      held,
      rebate: accrued - tenant.rebatePaidMicros,
    };
  }
}
