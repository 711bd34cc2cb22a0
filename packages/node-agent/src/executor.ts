import type {
  DeclineReason,
  FrameFromNodeOf,
  FrameToNodeOf,
  JobResult,
  ReportedUsage,
} from '@svc/contracts';

export type Failure = FrameFromNodeOf<'failed'>['failure'];

/** What was used so far, in the units of the rate card; `nodeSeconds` the agent adds itself. */
export type MeteredUsage = Omit<ReportedUsage, 'nodeSeconds'>;

export interface ExecutionContext {
  /** Aborted when the work must stop now: reject soon after, with whatever reason. */
  readonly signal: AbortSignal;
  /**
   * Takes the cumulative usage. It is also the sign of life that renews the submission's lease
   * (60 s): an executor that hangs reports nothing, and its submission is lost.
   */
  readonly meter: { record(usage: MeteredUsage): void };
}

/** Does the work of one job type on this node. */
export interface Executor {
  readonly jobType: string;
  /** Reported in `hello`; 1 to 64 printable ASCII characters each. */
  readonly name: string;
  readonly version: string;
  /** How often what was metered is reported; about 5 s where it is left out. */
  readonly usageIntervalMs?: number;
  /** Why this executor does not want what is offered; undefined: it does. */
  consider?(offer: FrameToNodeOf<'offer'>): DeclineReason | undefined;
  /**
   * Does the job once, and resolves with its result. Throws `JobFailed` where it legitimately
   * fails; any other error is reported as `node_error`.
   */
  run(payload: unknown, context: ExecutionContext): Promise<JobResult>;
}

/** The job failed for a reason that the tenant is told (CONTRACT 5). */
export class JobFailed extends Error {
  override readonly name = 'JobFailed';
  readonly code: Failure['code'];

  constructor(code: Failure['code'], message: string) {
    super(message);
    this.code = code;
  }
}
