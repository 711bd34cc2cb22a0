import { quantile } from './quantile.ts';

export interface Shape {
  readonly name: string;
  readonly tenants: number;
  /** From the post to the 201, or to the acknowledged webhook. */
  readonly until: 'created' | 'notified';
  readonly pace: InFlight | AtRate;
}

/** A closed loop: this many requests wait for answers, and each answer starts the next request. */
export interface InFlight {
  readonly inFlight: number;
}

/** An open loop: requests start at this rate and do not wait for the answers of others. */
export interface AtRate {
  readonly perSecond: number;
}

export interface Percentiles {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** One measurement. Figures by process are per submission. */
export interface Sample {
  /** From the first request to the last 201, or to the last webhook of a whole life. */
  readonly perSecond: number;
  readonly created: number;
  /** Answers other than 201. */
  readonly refused: number;
  /** From the post, or from its scheduled instant in an open loop, to the 201. */
  readonly answered: Percentiles;
  /** From the same instant to the acknowledged webhook. Only for a whole life. */
  readonly notified?: Percentiles;
  /** From the settlement's statement to the acknowledged first attempt. Only for a whole life. */
  readonly firstWebhook?: Percentiles;
  readonly cpuMicros: Readonly<Record<string, number>>;
  readonly totalCpuMicros: number;
  readonly wakeUps: Readonly<Record<string, number>>;
  readonly totalWakeUps: number;
  readonly walBytes: number;
  /** MiB by process so far (load/cpu.ts). */
  readonly memoryMib: Readonly<Record<string, number>>;
  /** Only of an open loop. */
  readonly backlog?: Backlog;
}

/** How far a system was behind at the end of an open loop's schedule. */
export interface Backlog {
  readonly duePerSecond: number;
  readonly unanswered: number;
  /** Whole lives that had not ended. */
  readonly unnotified: number;
  /** True if so many were unanswered that the rest of the schedule was not sent. */
  readonly isAbandoned: boolean;
  /** How late the driver itself was. */
  readonly lateP99Ms: number;
}

/**
 * Some of the baseline's answers are 503, because `waitUntilFinished` misses jobs that finish too
 * soon.
 */
export const refusedShareMax = 0.02;
/** A system that holds a rate has at most the requests of this time in work. */
const heldBacklogSeconds = 1;

/** False if requests arrived faster than the system could end them, or if it refused many. */
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
