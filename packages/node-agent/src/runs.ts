import type { FrameFromNode, ReportedUsage } from '@svc/contracts';

import { execute, type Executed, type Execution } from './execution.ts';
import type { Executor, Failure } from './executor.ts';
import type { BeginClaim, Journal, JournalEntry, Outcome } from './journal.ts';
import type { Log } from './log.ts';
import { completedOutcome, failedOutcome, failureOf } from './outcome.ts';

export interface Assignment {
  readonly submissionId: string;
  readonly jobType: string;
  readonly payloadText: string;
}

interface RunsContext {
  readonly journal: Journal;
  readonly executors: readonly Executor[];
  /** Sends, where there is a link. */
  readonly send: (frame: FrameFromNode) => void;
  /** Something is no longer in hand. */
  readonly onChange: () => void;
  readonly log: Log;
}

interface Run {
  entry: JournalEntry;
  isStopping: boolean;
  execution?: Execution;
  /** When the service was last asked or told, and has not answered since. */
  saidAtMs: number;
}

/** What is not answered is said again after this. */
const sayAgainAfterMs = 5_000;

const restarted: Failure = {
  code: 'node_error',
  message: 'The node restarted while it ran the submission.',
};
const cannotRemember: Failure = {
  code: 'node_error',
  message: 'The node could not write down that it began, and did nothing.',
};
const noExecutor: Failure = {
  code: 'node_error',
  message: 'The node cannot run this job type.',
};

function ended(outcome: Outcome): JournalEntry & { phase: 'ended' } {
  return { phase: 'ended', submissionId: outcome.submissionId, outcome };
}

/**
 * What was begun by a process that is gone may have acted: it is never begun again, and is
 * reported as `node_error` (CONTRACT 5).
 */
function afterRestart(entry: JournalEntry): JournalEntry {
  return entry.phase === 'begun' ? ended(failedOutcome(entry.submissionId, {}, restarted)) : entry;
}

/**
 * Everything the node has in hand: assignments, begun or not, and outcomes that the service has
 * not acknowledged. What is decided is on disk before it is done or said, and things are done one
 * after the other, so that the last decision is the one on disk.
 */
export class RunsInHand {
  readonly #context: RunsContext;
  readonly #runs = new Map<string, Run>();
  readonly #sayAgain: NodeJS.Timeout;
  #isClosed = false;
  #tail: Promise<void> = Promise.resolve();

  constructor(context: RunsContext) {
    this.#context = context;
    for (const entry of context.journal.found) this.#add(afterRestart(entry));
    this.#sayAgain = setInterval(() => this.#sayUnanswered(), sayAgainAfterMs);
  }

  /** For `hello`. */
  ids(): string[] {
    return [...this.#runs.keys()];
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Remembers an assignment, then asks to begin it. */
  assign(assignment: Assignment): void {
    const { submissionId } = assignment;
    if (this.#runs.has(submissionId)) return;
    const run = this.#add({ phase: 'assigned', ...assignment });
    this.#inOrder(async () => {
      await this.#context.journal.write(run.entry);
      this.#context.log('info', 'assigned', { submissionId });
      this.#say(run);
    });
  }

  /** Reports an assignment that cannot be taken on as failed before it began. */
  refuse(submissionId: string, failure: Failure): void {
    if (this.#runs.has(submissionId)) return;
    const outcome = failedOutcome(submissionId, {}, failure);
    const run = this.#add(ended(outcome));
    this.#inOrder(() => this.#keepOutcome(run, outcome));
  }

  /** Begins, once, however often it is told to. */
  begin(submissionId: string): void {
    const run = this.#runs.get(submissionId);
    if (run !== undefined) this.#inOrder(() => this.#begin(run));
  }

  /** Stops it, and says so; what has an outcome already goes on being reported. */
  stop(submissionId: string): void {
    this.#inOrder(() => this.#stop(submissionId));
  }

  /** The service has stored the outcome: it is forgotten here. */
  acknowledge(submissionId: string): void {
    if (this.#runs.get(submissionId)?.entry.phase !== 'ended') return;
    this.#inOrder(() => this.#forget(submissionId));
  }

  /** On a new link: asks and reports again what was not answered. */
  resume(): void {
    for (const run of this.#runs.values()) this.#inOrder(async () => this.#say(run));
  }

  /** Stops all work without an outcome: the journal keeps what was begun. */
  async close(): Promise<void> {
    clearInterval(this.#sayAgain);
    this.#isClosed = true;
    for (const run of this.#runs.values()) run.execution?.stop();
    await this.#tail;
  }

  #add(entry: JournalEntry): Run {
    const run: Run = { entry, isStopping: false, saidAtMs: Number.NEGATIVE_INFINITY };
    this.#runs.set(entry.submissionId, run);
    return run;
  }

  #inOrder(work: () => Promise<void>): void {
    const previous = this.#tail;
    this.#tail = this.#after(previous, work);
  }

  async #after(previous: Promise<void>, work: () => Promise<void>): Promise<void> {
    await previous;
    if (this.#isClosed) return;
    try {
      await work();
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      this.#context.log('error', 'could not keep what has to be remembered', { reason });
    }
  }

  /** Asks to begin, or reports the outcome. */
  #say(run: Run): void {
    const { entry } = run;
    if (entry.phase === 'begun' || run.isStopping) return;
    run.saidAtMs = performance.now();
    const { send } = this.#context;
    if (entry.phase === 'ended') send(entry.outcome);
    else send({ type: 'start', submissionId: entry.submissionId });
  }

  #sayUnanswered(): void {
    const saidBeforeMs = performance.now() - sayAgainAfterMs;
    for (const run of this.#runs.values()) {
      if (run.saidAtMs <= saidBeforeMs) this.#inOrder(async () => this.#say(run));
    }
  }

  async #begin(run: Run): Promise<void> {
    const { entry } = run;
    if (entry.phase !== 'assigned' || run.isStopping) return;
    const { submissionId, payloadText } = entry;
    const { executors, log, send } = this.#context;
    const executor = executors.find(({ jobType }) => jobType === entry.jobType);
    if (executor === undefined) {
      await this.#keepOutcome(run, failedOutcome(submissionId, {}, noExecutor));
      return;
    }
    run.entry = { ...entry, phase: 'begun' };
    const claimed = await this.#claimBegin(submissionId);
    if (claimed === 'taken') {
      // It stays in hand without being run here: the other process says how it ends.
      log('error', 'another process has begun it', { submissionId });
      return;
    }
    if (claimed === 'missing') {
      await this.#keepOutcome(run, failedOutcome(submissionId, {}, cannotRemember));
      return;
    }
    log('info', 'begun', { submissionId });
    const payload: unknown = JSON.parse(payloadText);
    run.execution = execute(executor, { submissionId, payload }, send);
    void this.#whenEnded(run, run.execution);
  }

  /** What cannot be written down is not begun: `missing`, so that it is given up at once. */
  async #claimBegin(submissionId: string): Promise<BeginClaim> {
    const { journal, log } = this.#context;
    try {
      return await journal.claimBegin(submissionId);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      log('error', 'could not write down that it began', { submissionId, reason });
      return 'missing';
    }
  }

  async #whenEnded(run: Run, execution: Execution): Promise<void> {
    const executed = await execution.ended;
    this.#inOrder(() => this.#end(run, executed));
  }

  async #end(run: Run, executed: Executed): Promise<void> {
    const { submissionId } = run.entry;
    const { usage } = executed;
    if (executed.kind === 'completed') {
      // Also where it should have stopped: it was done, and the service keeps it as late.
      await this.#keepOutcome(run, completedOutcome(submissionId, usage, executed.result));
    } else if (run.isStopping) {
      await this.#sayStopped(submissionId, usage);
    } else {
      await this.#keepOutcome(run, failedOutcome(submissionId, usage, failureOf(executed.error)));
    }
  }

  async #keepOutcome(run: Run, outcome: Outcome): Promise<void> {
    const entry = ended(outcome);
    run.entry = entry;
    run.isStopping = false;
    try {
      await this.#context.journal.write(entry);
    } finally {
      // Reported even where it could not be written: unsaid it would be lost for certain.
      const { submissionId, type } = outcome;
      this.#context.log('info', 'ended', { submissionId, outcome: type });
      this.#say(run);
    }
  }

  async #stop(submissionId: string): Promise<void> {
    const run = this.#runs.get(submissionId);
    if (run === undefined) {
      this.#context.send({ type: 'stopped', submissionId, usage: {} });
      return;
    }
    if (run.entry.phase === 'ended') return;
    run.isStopping = true;
    if (run.execution === undefined) await this.#sayStopped(submissionId, {});
    else run.execution.stop();
  }

  async #sayStopped(submissionId: string, usage: ReportedUsage): Promise<void> {
    await this.#forget(submissionId);
    this.#context.log('info', 'stopped', { submissionId });
    this.#context.send({ type: 'stopped', submissionId, usage });
  }

  async #forget(submissionId: string): Promise<void> {
    await this.#context.journal.remove(submissionId);
    this.#runs.delete(submissionId);
    this.#context.onChange();
  }
}
