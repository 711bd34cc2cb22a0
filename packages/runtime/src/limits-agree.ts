import { jobLockMs, leaseMs, statementTimeoutMs, webhookTimeoutMs } from '@svc/domain';
import { type CommonConfig, ConfigError } from './config.ts';

/**
 * The times in ms after which another process may take work over. A call to Postgres must end
 * earlier, otherwise two processes could do the same work.
 */
const takenOverAfterMs = {
  'a running submission': leaseMs,
  'a delivery': 2 * webhookTimeoutMs,
  'a job of a queue': jobLockMs,
};

/**
 * The most jobs or webhook requests that one process has in flight, and the variable that sets it.
 */
export interface JobLimit {
  readonly variable: string;
  readonly jobsMax: number;
}

/**
 * Checks the limits that depend on each other. Throws `ConfigError` if some do not agree. The
 * message lists every fault and the variables to change.
 */
export function assertLimitsAgree(config: CommonConfig, jobs?: JobLimit): void {
  const faults = faultsOf(config, jobs);
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
}

function faultsOf(config: CommonConfig, jobs: JobLimit | undefined): string[] {
  const {
    DATABASE_ANSWER_TIMEOUT_MS: answerMs,
    DATABASE_CONNECT_TIMEOUT_MS: connectMs,
    DATABASE_POOL_MAX: poolMax,
    DATABASE_BATCH_MAX: batchMax,
  } = config;
  const faults: string[] = [];
  if (answerMs <= statementTimeoutMs) {
    faults.push(
      `DATABASE_ANSWER_TIMEOUT_MS is ${answerMs}, but Postgres may take ${statementTimeoutMs} ms for a statement (statement_timeout). Set the variable above ${statementTimeoutMs}, so that a call waits for the answer.`,
    );
  }
  for (const [what, ms] of Object.entries(takenOverAfterMs)) {
    if (answerMs < ms) continue;
    faults.push(
      `DATABASE_ANSWER_TIMEOUT_MS is ${answerMs}, but another process may take over ${what} after ${ms} ms. Set the variable below ${ms}, so that a call ends before that.`,
    );
  }
  if (connectMs > answerMs) {
    faults.push(
      `DATABASE_CONNECT_TIMEOUT_MS is ${connectMs}, but DATABASE_ANSWER_TIMEOUT_MS is only ${answerMs}. Set DATABASE_CONNECT_TIMEOUT_MS to ${answerMs} or less.`,
    );
  }
  if (jobs !== undefined && jobs.jobsMax > poolMax * batchMax) {
    faults.push(
      `${jobs.variable} is ${jobs.jobsMax}, but ${poolMax} connections to Postgres with up to ${batchMax} calls each are enough for only ${poolMax * batchMax}. Lower ${jobs.variable}, or raise DATABASE_POOL_MAX or DATABASE_BATCH_MAX.`,
    );
  }
  return faults;
}
