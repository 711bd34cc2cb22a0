import type { Random } from '../simulation/random.ts';
import type { CreateOutcome, HistoryRecord, Status } from './history.ts';
import { ReferenceAccount } from './reference-account.fixture.ts';
import { ReferenceEndpoint } from './reference-endpoint.fixture.ts';
import { createdOf, holdMicros, type Modelled } from './reference-submission.fixture.ts';

/**
 * Generates a correct history of a service with one tenant. Requests overlap, and some requests get
 * no answer.
 */
export function generateHistory(random: Random, steps: number): HistoryRecord[] {
  const model = new ReferenceModel(random);
  for (let step = 0; step < steps; step += 1) model.step();
  return model.finish();
}

const tenant = 't';
/**
 * A request begins less than this many milliseconds before the model applies it. It ends less than
 * this many milliseconds after the model answers it.
 */
const overlapMs = 12;

class ReferenceModel {
  readonly #random: Random;
  readonly #records: HistoryRecord[] = [];
  readonly #submissions: Modelled[] = [];
  readonly #grants: { reference: string; availableAfterMicros: bigint }[] = [];
  readonly #endpoint = new ReferenceEndpoint();
  readonly #account = new ReferenceAccount();
  #nowMs = 100;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  step(): void {
    this.#nowMs += 1 + this.#random.nat(3);
    this.#count += 1;
    const die = this.#random.nat(20);
    if (die < 4) this.#create();
    else if (die < 7) this.#decide();
    else if (die < 9) this.#begin();
    else if (die < 11) this.#settle();
    else if (die < 12) this.#cancel();
    else if (die < 14) this.#readStatus();
    else if (die < 16) this.#readBalance();
    else if (die < 17) this.#readStatement();
    else if (die < 18) this.#grant();
    else if (die < 19) this.#moveEndpoint();
    else this.#deliver();
  }

  finish(): HistoryRecord[] {
    while (this.#submissions.some(({ state }) => state === 'pending')) this.#decide();
    this.#nowMs += overlapMs;
    while (this.#endpoint.isOwed()) this.#deliver();
    this.#records.push({ kind: 'rest', atMs: this.#nowMs + overlapMs });
    return this.#records;
  }

  #beginMs(): number {
    return this.#nowMs - this.#random.nat(overlapMs);
  }

  #interval(): { beginMs: number; endMs: number } {
    return { beginMs: this.#beginMs(), endMs: this.#nowMs + this.#random.nat(overlapMs) };
  }

  #isLost(): boolean {
    return this.#random.chance(0.15);
  }

  #some(...states: Status[]): Modelled | undefined {
    return this.#random.pick(this.#submissions.filter(({ state }) => states.includes(state)));
  }

  #line(type: string, amountMicros: bigint, subject: string): void {
    this.#records.push(this.#account.move(tenant, type, amountMicros, subject));
  }

  #create(): void {
    const key = `k${this.#random.nat(1 + this.#count / 3)}`;
    const body = this.#random.chance(0.8) ? 'b' : 'other';
    const beginMs = this.#beginMs();
    const holder = this.#submissions.find((one) => one.key === key && one.state !== 'rejected');
    if (holder === undefined) return this.#hold(key, body, beginMs);
    if (holder.body !== body) this.#answer(key, body, beginMs, { kind: 'conflict' });
    else if (holder.state === 'pending') holder.waiting.push(beginMs);
    else this.#answer(key, body, beginMs, createdOf(holder, true));
  }

  #hold(key: string, body: string, beginMs: number): void {
    if (this.#account.available() < holdMicros)
      return this.#answer(key, body, beginMs, { kind: 'refused', code: 'insufficient_credits' });
    const id = `s${this.#count}`;
    this.#line('hold', holdMicros, id);
    this.#submissions.push({
      id,
      key,
      body,
      availableAfterMicros: this.#account.available(),
      state: 'pending',
      waiting: [beginMs],
      chargedMicros: null,
    });
  }

  #answer(key: string, body: string, beginMs: number, answered: CreateOutcome): void {
    const isLost = this.#isLost();
    const outcome: CreateOutcome = isLost ? { kind: 'unknown' } : answered;
    const endMs = isLost ? null : this.#nowMs + this.#random.nat(overlapMs);
    this.#records.push({ kind: 'create', tenant, key, body, beginMs, endMs, outcome });
  }

  #decide(): void {
    const one = this.#some('pending');
    if (one === undefined) return;
    const isRejected = this.#random.chance(0.3);
    one.state = isRejected ? 'rejected' : 'dispatched';
    if (isRejected) this.#line('release', holdMicros, one.id);
    for (const [index, beginMs] of one.waiting.entries()) {
      const refused = { kind: 'refused', code: 'dispatch_unavailable' } as const;
      const outcome = isRejected ? refused : createdOf(one, index > 0);
      this.#answer(one.key, one.body, beginMs, outcome);
    }
  }

  #begin(): void {
    const one = this.#some('dispatched');
    if (one === undefined) return;
    one.state = 'running';
    const atMs = this.#nowMs + this.#random.nat(overlapMs);
    this.#see(one, { how: 'reached', beginMs: atMs, endMs: atMs });
  }

  #end(one: Modelled, status: Status, chargedMicros: bigint, type: string): void {
    one.state = status;
    one.chargedMicros = chargedMicros;
    if (chargedMicros > 0n) this.#line('charge', chargedMicros, one.id);
    if (chargedMicros < holdMicros) this.#line('release', holdMicros - chargedMicros, one.id);
    this.#endpoint.owe({ submissionId: one.id, type });
  }

  #settle(): void {
    const one = this.#some('running');
    if (one === undefined) return;
    const isFailed = this.#random.chance(0.2);
    if (isFailed) return this.#end(one, 'failed', 0n, 'submission.failed');
    this.#end(one, 'submitted', BigInt(1 + this.#random.nat(10)), 'submission.completed');
  }

  #cancel(): void {
    const one = this.#some('dispatched', 'running', 'submitted', 'cancelled');
    if (one === undefined) return;
    const isFirst = one.chargedMicros === null;
    if (isFirst) this.#end(one, 'cancelled', BigInt(this.#random.nat(5)), 'submission.cancelled');
    const chargedMicros = one.chargedMicros ?? 0n;
    const at = this.#interval();
    const cancel = { kind: 'cancel', submissionId: one.id, ...at } as const;
    const refundedMicros = holdMicros - chargedMicros;
    if (this.#isLost())
      this.#records.push({ ...cancel, endMs: null, outcome: { kind: 'unknown' } });
    else if (isFirst)
      this.#records.push({
        ...cancel,
        outcome: { kind: 'cancelled', chargedMicros, refundedMicros },
      });
    else
      this.#records.push({
        ...cancel,
        outcome: { kind: 'ended', status: one.state, chargedMicros },
      });
  }

  #readStatus(): void {
    const one = this.#random.pick(this.#submissions);
    if (one !== undefined) this.#see(one, { how: 'is', ...this.#interval() });
  }

  #see(one: Modelled, at: { how: 'is' | 'reached'; beginMs: number; endMs: number }): void {
    const { id, state, chargedMicros, key } = one;
    const shown = state === 'rejected' ? {} : { key, tenant };
    this.#records.push({
      kind: 'status',
      submissionId: id,
      status: state,
      chargedMicros,
      source: 'model',
      ...at,
      ...shown,
    });
  }

  #readBalance(): void {
    const figures = this.#account.figures();
    this.#records.push({ kind: 'balance', tenant, ...figures, ...this.#interval() });
  }

  #readStatement(): void {
    const lines = this.#records.filter((record) => record.kind === 'line');
    const line = this.#random.pick(lines.slice(-5));
    if (line !== undefined) this.#records.push({ ...line, kind: 'statement', ...this.#interval() });
  }

  #grant(): void {
    const repeated = this.#random.chance(0.3) ? this.#random.pick(this.#grants) : undefined;
    const reference = repeated?.reference ?? `g${this.#count}`;
    const amountMicros = 40n;
    if (repeated === undefined) {
      this.#line('grant', amountMicros, reference);
      this.#grants.push({ reference, availableAfterMicros: this.#account.available() });
    }
    const known = this.#grants.find((one) => one.reference === reference);
    const availableAfterMicros = known?.availableAfterMicros ?? 0n;
    const isReplay = repeated !== undefined;
    const grant = { kind: 'grant', tenant, reference, amountMicros, ...this.#interval() } as const;
    this.#records.push(
      this.#isLost()
        ? { ...grant, endMs: null, outcome: { kind: 'unknown' } }
        : { ...grant, outcome: { kind: 'granted', isReplay, availableAfterMicros } },
    );
  }

  #moveEndpoint(): void {
    const { beginMs, endMs } = this.#interval();
    const url = this.#random.chance(0.2) ? null : `u${this.#random.nat(4)}`;
    const isLost = this.#isLost();
    if (!isLost || this.#random.chance(0.5)) this.#endpoint.move(url);
    this.#records.push({ kind: 'url', tenant, url, beginMs, endMs: isLost ? null : endMs });
  }

  #deliver(): void {
    const attempt = this.#endpoint.attempt(this.#random);
    if (attempt === undefined) return;
    const atMs = this.#nowMs + this.#random.nat(overlapMs);
    const eventId = `event of ${attempt.submissionId}`;
    this.#records.push({ kind: 'webhook', tenant, eventId, ...attempt, atMs });
  }
}
