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
  /** Aborted when the work must stop now. `run` must then reject soon, with any reason. */
  readonly signal: AbortSignal;
  /**
   * `record` takes the usage so far, and keeps the last amount of a unit that is left out. If
   * `record` is not called for about 60 s, the lease expires (CONTRACT 7).
   */
  readonly meter: { record(usage: MeteredUsage): void };
  /**
   * Records on disk that the next step can submit the application. After a rejection, submit
   * nothing: the record failed, the work must stop, or an earlier call has resolved.
   */
  submitting(): Promise<void>;
}

export interface Job {
  readonly submissionId: string;
  /** The payload's exact JSON text, because `JSON.parse` loses digits of numbers. */
  readonly payloadText: string;
  /**
   * The run limit, in seconds from the commit of the assignment on. The service ends a submission
   * that takes longer (`deadline_exceeded`).
   */
  readonly maxNodeSeconds: number;
}

export interface Executor {
  readonly jobType: string;
  /**
   * The node sends `name` and `version` in `hello`. Each has 1 to 64 printable ASCII characters.
   */
  readonly name: string;
  readonly version: string;
  /** The interval of usage reports; the default is 5 s. */
  readonly usageIntervalMs?: number;
  /**
   * True if the executor submits nothing before `submitting()` has resolved. If the job fails or
   * the agent restarts before that call, the agent reports `submitted: false`.
   */
  readonly isFenced?: true;
  /**
   * Returns the reason to decline an offer, or undefined to accept it. An executor without this
   * method accepts every offer.
   */
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
  /**
   * False if a retry would fail again. It has an effect only with the code `site_unreachable`
   * (CONTRACT 7).
   */
  readonly retriable: false | undefined;
  /**
   * False if it is certain that nothing was submitted, although `submitting()` had resolved
   * (CONTRACT 10, "At most once").
   */
  readonly submitted: false | undefined;

  constructor(
    code: Failure['code'],
    message: string,
    { retriable, submitted }: { readonly retriable?: false; readonly submitted?: false } = {},
  ) {
    super(message);
    this.code = code;
    this.retriable = retriable;
    this.submitted = submitted;
  }
}
