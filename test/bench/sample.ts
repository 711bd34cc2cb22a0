import { quantile } from './quantile.ts';

export interface Shape {
  readonly name: string;
  readonly tenants: number;
  /** The end of the measured time: the 201, or the acknowledged webhook. */
  readonly until: 'created' | 'notified';
  readonly pace: InFlight | AtRate;
}

/** A closed loop: this many requests wait for answers, and each answer starts the next request. */
export interface InFlight {
  readonly inFlight: number;
}

/** An open loop: requests start at this rate, even if earlier requests have no answer yet. */
export interface AtRate {
  readonly perSecond: number;
}

export interface Percentiles {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/**
 * The figures of one measurement, or the medians of several. CPU, wake-ups and WAL are per created
 * submission.
 */
export interface Sample {
  /**
   * Created submissions per second. The measured time begins before the first request and ends with
   * the last 201. For a whole life, it ends with the last acknowledged webhook.
   */
  readonly perSecond: number;
  readonly created: number;
  /** The number of requests without a 201: another answer came, or the connection failed. */
  readonly refused: number;
  /** The time from the post to the 201. In an open loop, the time begins when the post is due. */
  readonly answered: Percentiles;
  /**
   * The time from the post to the acknowledged webhook. In an open loop, the time begins when the
   * post is due. Set only for a whole life.
   */
  readonly notified?: Percentiles;
  /**
   * The time from the statement that settles the submission to the acknowledged first attempt. Only
   * for a whole life.
   */
  readonly firstWebhook?: Percentiles;
  readonly cpuMicros: Readonly<Record<string, number>>;
  readonly totalCpuMicros: number;
  readonly wakeUps: Readonly<Record<string, number>>;
  readonly totalWakeUps: number;
  readonly walBytes: number;
  /** The memory by kind of process, in MiB (load/cpu.ts). */
  readonly memoryMib: Readonly<Record<string, number>>;
  /** Set only for an open loop. */
  readonly backlog?: Backlog;
}

export interface Backlog {
  readonly duePerSecond: number;
  readonly unanswered: number;
  /**
   * The number of submissions whose webhook arrived after the schedule had ended or was abandoned
   * (`endAtMs` in load/messages.ts).
   */
  readonly unnotified: number;
  /** True if the driver abandoned the schedule, because too many requests were unanswered. */
  readonly isAbandoned: boolean;
  /** The 99th percentile of the time from the moment a request was due until it was sent. */
  readonly lateP99Ms: number;
}

/**
 * The largest share of requests that may be refused. It is not 0, because the baseline answers 503
 * if its gateway does not learn of the dispatch within 5 s.
 */
export const refusedShareMax = 0.02;
/**
 * The system did not keep up with the rate if `unanswered` or `unnotified` is larger than the
 * number of requests that are due in this many seconds.
 */
const heldBacklogSeconds = 1;

/**
 * Always true for a closed loop. True for an open loop if the system kept up with the rate and
 * refused at most `refusedShareMax` of the requests.
 */
export function isHeld({ backlog, created, refused }: Sample): boolean {
  if (backlog === undefined) return true;
  const { duePerSecond, unanswered, unnotified, isAbandoned } = backlog;
  return (
    !isAbandoned &&
    Math.max(unanswered, unnotified) <= duePerSecond * heldBacklogSeconds &&
    refused <= (created + refused) * refusedShareMax
  );
}

export function percentilesOf(valuesMs: readonly number[]): Percentiles {
  const sorted = valuesMs.toSorted((one, other) => one - other);
  const at = (share: number): number => quantile(sorted, share);
  return { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
}
