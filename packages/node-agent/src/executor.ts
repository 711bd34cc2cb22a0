import type {
  DeclineReason,
  FrameFromNodeOf,
  FrameToNodeOf,
  JobResult,
  ReportedUsage,
} from '@svc/contracts';

export type Failure = FrameFromNodeOf<'failed'>['failure'];

/** The usage so far, in the units of the rate card. The agent adds `nodeSeconds` itself. */
export type MeteredUsage = Omit<ReportedUsage, 'nodeSeconds'>;

export interface ExecutionContext {
  /** Aborted when the work must stop now. Reject soon after, with any reason. */
  readonly signal: AbortSignal;
  /**
   * Takes the cumulative usage. A report also renews the submission's lease (60 s). An executor
   * that hangs reports nothing, and its submission is lost.
   */
  readonly meter: { record(usage: MeteredUsage): void };
  /**
   * Records that the next step may submit the application. Resolves when the record is on disk.
   * Rejects if it cannot be written, if the work must stop, and on every further call: then nothing
   * may be submitted.
   */
  submitting(): Promise<void>;
}

/** One submission to work on. */
export interface Job {
  readonly submissionId: string;
  /** The payload's exact JSON text, because `JSON.parse` loses digits of numbers. */
  readonly payloadText: string;
  /** The service ends the submission after this time. */
  readonly maxNodeSeconds: number;
}

/** Does the work of one job type on this node. */
export interface Executor {
  readonly jobType: string;
  /** Reported in `hello`; 1 to 64 printable ASCII characters each. */
  readonly name: string;
  readonly version: string;
  /** The interval of usage reports; the default is 5 s. */
  readonly usageIntervalMs?: number;
  /**
   * True if the executor submits nothing before `submitting()` has resolved. A failure before that
   * is then reported with `submitted: false`, also after a restart.
   */
  readonly isFenced?: true;
  /** Returns the reason to decline an offer, or undefined to accept it. */
  consider?(offer: FrameToNodeOf<'offer'>): DeclineReason | undefined;
  /**
   * Does the job once, and returns its result. Throws `JobFailed` if the job fails for a known
   * reason. Any other error is reported as `node_error`.
   */
  run(job: Job, context: ExecutionContext): Promise<JobResult>;
}

/** The job failed for a reason that the tenant gets to see (CONTRACT 5). */
export class JobFailed extends Error {
  override readonly name = 'JobFailed';
  readonly code: Failure['code'];
  /** False if the same job would fail again, although the code alone says that it may succeed. */
  readonly retriable: false | undefined;

  constructor(
    code: Failure['code'],
    message: string,
    { retriable }: { readonly retriable?: false } = {},
  ) {
    super(message);
    this.code = code;
    this.retriable = retriable;
  }
}
