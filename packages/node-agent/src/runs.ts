import type { FrameFromNode, ReportedUsage } from '@svc/contracts';
import { execute, type Executed, type Execution } from './execution.ts';
import type { Executor, Failure } from './executor.ts';
import type { History } from './history.ts';
import type { BeginClaim, Journal, JournalEntry, Outcome } from './journal.ts';
import type { Log } from './log.ts';
import {
  cannotRecordBegin,
  completedOutcome,
  failedOutcome,
  failureOf,
  missingAssignment,
  noExecutor,
} from './outcome.ts';
import { afterRestart, endedEntry, isUnsubmitted } from './run-entry.ts';

export interface Assignment {
  readonly submissionId: string;
  readonly jobType: string;
  readonly payloadText: string;
  readonly maxNodeSeconds: number;
}

interface RunsContext {
  readonly journal: Journal;
  readonly history?: History;
  readonly executors: readonly Executor[];
  /**
   * Sends a frame. Does nothing without a link, or if the frame must wait in a recovery
   * (`Recovery.holds`).
   */
  readonly send: (frame: FrameFromNode) => void;
  /** Called when the node forgets a submission. */
  readonly onChange: () => void;
  readonly log: Log;
}

interface Run {
  entry: JournalEntry;
  isStopping: boolean;
  execution?: Execution;
  /**
   * When `start` or the outcome was last passed to `send`, by `performance.now`. `-Infinity` before
   * the first time.
   */
  sentAtMs: number;
}

/**
 * At this interval, the node looks for `start` frames and outcomes that the service has not
 * answered. It sends a frame again if it last sent the frame at least this long ago.
 */
const sendAgainAfterMs = 5_000;

/** How long a stopped executor may take to clean up when the agent ends. */
const stopMsMax = 10_000;

async function within(ms: number, promises: readonly Promise<unknown>[]): Promise<void> {
  if (promises.length === 0) return;
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([Promise.all(promises), late.promise]);
  clearTimeout(timer);
}

/**
 * The node's assignments and unacknowledged outcomes. The node writes each change to disk before
 * acting on it, but sends `start` and outcomes even if the write fails.
 */
export class NodeRuns {
  readonly #context: RunsContext;
  readonly #runs = new Map<string, Run>();
  readonly #sendAgain: NodeJS.Timeout;
  #isClosed = false;
  #tail: Promise<void> = Promise.resolve();

  constructor(context: RunsContext) {
    this.#context = context;
    for (const entry of context.journal.found) this.#add(afterRestart(entry));
    this.#sendAgain = setInterval(() => this.#sendUnanswered(), sendAgainAfterMs);
  }

  /** The submissions to name in `hello`. */
  ids(): string[] {
    return [...this.#runs.keys()];
  }

  phaseOf(submissionId: string): JournalEntry['phase'] | undefined {
    return this.#runs.get(submissionId)?.entry.phase;
  }

  get size(): number {
    return this.#runs.size;
  }

  /**
   * Writes an assignment to the journal, then asks the service for permission to begin it. Does
   * nothing if the node already has the submission.
   */
  assign(assignment: Assignment, receipt?: string): void {
    const { submissionId } = assignment;
    if (this.#runs.has(submissionId)) return;
    const run = this.#add({ phase: 'assigned', ...assignment });
    this.#inOrder(async () => {
      if (receipt !== undefined) await this.#context.history?.assigned(submissionId, receipt);
      await this.#context.journal.write(run.entry);
      this.#context.log('info', 'assigned', { submissionId });
      this.#report(run);
    });
  }

  /**
   * Reports an assignment as failed without beginning it. Does nothing if the node already has the
   * submission.
   */
  refuse(submissionId: string, failure: Failure): void {
    if (this.#runs.has(submissionId)) return;
    const outcome = failedOutcome(submissionId, {}, failure);
    const run = this.#add(endedEntry(outcome));
    this.#inOrder(() => this.#keepOutcome(run, outcome));
  }

  /**
   * Begins a submission whose phase is `assigned`, unless it is being stopped. Does nothing for any
   * other submission.
   */
  begin(submissionId: string): void {
    const run = this.#runs.get(submissionId);
    if (run !== undefined) this.#inOrder(() => this.#begin(run));
  }

  /**
   * Stops the submission, then sends `stopped`, also for an unknown one. Sends no `stopped` if the
   * submission has an outcome, or completes before it stops.
   */
  stop(submissionId: string): void {
    this.#inOrder(() => this.#stop(submissionId));
  }

  acknowledge(submissionId: string): void {
    if (this.#runs.get(submissionId)?.entry.phase !== 'ended') return;
    this.#inOrder(() => this.#forget(submissionId));
  }

  resume(): void {
    for (const run of this.#runs.values()) this.#inOrder(async () => this.#report(run));
  }

  /**
   * Stops the executors, then waits for the current write to disk and at most `stopMsMax` for the
   * executors. Unfinished submissions stay in the journal.
   */
  async close(): Promise<void> {
    clearInterval(this.#sendAgain);
    this.#isClosed = true;
    const executions = [...this.#runs.values()].flatMap(({ execution }) => execution ?? []);
    for (const execution of executions) execution.stop();
    // Waits without a time limit until the current write is done.
    await this.#tail;
    await within(
      stopMsMax,
      executions.map(({ ended: stopped }) => stopped),
    );
  }

  #add<E extends JournalEntry>(entry: E): Run & { entry: E } {
    const run = { entry, isStopping: false, sentAtMs: Number.NEGATIVE_INFINITY };
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
      this.#context.log('error', 'could not write to the state directory', { reason });
    }
  }

  #report(run: Run): void {
    const { entry } = run;
    if (entry.phase === 'begun' || entry.phase === 'submitting' || run.isStopping) return;
    run.sentAtMs = performance.now();
    const { send } = this.#context;
    if (entry.phase === 'ended') send(entry.outcome);
    else send({ type: 'start', submissionId: entry.submissionId });
  }

  #sendUnanswered(): void {
    const sentBeforeMs = performance.now() - sendAgainAfterMs;
    for (const run of this.#runs.values()) {
      if (run.sentAtMs <= sentBeforeMs) this.#inOrder(async () => this.#report(run));
    }
  }

  async #begin(run: Run): Promise<void> {
    const { entry } = run;
    if (entry.phase !== 'assigned' || run.isStopping) return;
    const { submissionId, payloadText, maxNodeSeconds } = entry;
    const { executors, log, send } = this.#context;
    const executor = executors.find(({ jobType }) => jobType === entry.jobType);
    if (executor === undefined) {
      await this.#keepOutcome(run, failedOutcome(submissionId, {}, noExecutor));
      return;
    }
    const isFenced = executor.isFenced === true;
    run.entry = { phase: 'begun', submissionId, isFenced };
    const claimed = await this.#claimBegin(submissionId, isFenced);
    if (claimed === 'taken') {
      // Another process has begun this submission and reports the outcome. Here the run stays in
      // `#runs` without an execution, until the service stops the submission.
      log('error', 'another process has begun the submission', { submissionId });
      return;
    }
    if (claimed !== 'claimed') {
      const failure = claimed === 'missing' ? missingAssignment : cannotRecordBegin;
      await this.#keepOutcome(run, failedOutcome(submissionId, {}, failure));
      return;
    }
    log('info', 'begun', { submissionId });
    const job = { submissionId, payloadText, maxNodeSeconds };
    const submitting = (): Promise<void> => this.#markSubmitting(run);
    run.execution = execute(executor, job, { report: send, submitting });
    void this.#whenEnded(run, run.execution);
  }

  /** Returns `unrecorded` if the journal throws. The begin may then be on disk already. */
  async #claimBegin(submissionId: string, isFenced: boolean): Promise<BeginClaim | 'unrecorded'> {
    const { journal, log } = this.#context;
    try {
      return await journal.claimBegin(submissionId, isFenced);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      log('error', 'could not record that the submission begins, so the node does not run it', {
        submissionId,
        reason,
      });
      return 'unrecorded';
    }
  }

  /**
   * Marks the run as `submitting` in the journal. Throws if the mark cannot be written, if the run
   * must stop, or if the phase of the run is not `begun`.
   */
  async #markSubmitting(run: Run): Promise<void> {
    let isMarked = false;
    this.#inOrder(async () => {
      const { phase, submissionId } = run.entry;
      if (phase !== 'begun' || run.isStopping) return;
      await this.#context.journal.markSubmitting(submissionId);
      run.entry = { phase: 'submitting', submissionId };
      isMarked = true;
      this.#context.log('info', 'submitting', { submissionId });
    });
    await this.#tail;
    if (!isMarked) throw new Error('The run was stopped, or could not be recorded as submitting.');
  }

  async #whenEnded(run: Run, execution: Execution): Promise<void> {
    const executed = await execution.ended;
    this.#inOrder(() => this.#end(run, executed));
  }

  async #end(run: Run, executed: Executed): Promise<void> {
    const { submissionId } = run.entry;
    const { usage } = executed;
    const isUnsent = isUnsubmitted(run.entry);
    if (executed.kind === 'completed' && isUnsent) {
      // An executor with `isFenced` may complete only after `submitting` has resolved. Here
      // `submitting` has not resolved, so nobody knows what the executor did.
      const error = new Error('the executor completed although `submitting` had not resolved');
      await this.#keepOutcome(run, failedOutcome(submissionId, usage, failureOf(error)));
    } else if (executed.kind === 'completed') {
      // The work is done, so the node reports the result even if the run should have stopped. The
      // service then records a late outcome.
      await this.#keepOutcome(run, completedOutcome(submissionId, usage, executed.result));
    } else if (run.isStopping) {
      await this.#confirmStop(submissionId, usage);
    } else {
      const failure = { ...failureOf(executed.error), ...(isUnsent && { submitted: false }) };
      await this.#keepOutcome(run, failedOutcome(submissionId, usage, failure));
    }
  }

  async #keepOutcome(run: Run, outcome: Outcome): Promise<void> {
    const entry = endedEntry(outcome);
    run.entry = entry;
    run.isStopping = false;
    try {
      await this.#context.journal.write(entry);
    } finally {
      // The outcome is reported even if the journal cannot be written, because this process still
      // has the outcome.
      const { submissionId, type } = outcome;
      this.#context.log('info', 'ended', { submissionId, outcome: type });
      this.#report(run);
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
    if (run.execution === undefined) await this.#confirmStop(submissionId, {});
    else run.execution.stop();
  }

  async #confirmStop(submissionId: string, usage: ReportedUsage): Promise<void> {
    await this.#forget(submissionId);
    this.#context.log('info', 'stopped', { submissionId });
    this.#context.send({ type: 'stopped', submissionId, usage });
  }

  async #forget(submissionId: string): Promise<void> {
    const entry = this.#runs.get(submissionId)?.entry;
    if (entry?.phase === 'ended') await this.#context.history?.ended(entry.outcome);
    await this.#context.journal.remove(submissionId);
    this.#runs.delete(submissionId);
    this.#context.onChange();
  }
}
