import { expect, test } from 'vitest';
import { type CommonConfig, ConfigError } from './config.ts';
import { assertLimitsAgree, type JobLimit } from './limits-agree.ts';

const defaults: CommonConfig = {
  SVC_ENVIRONMENT: 'sandbox',
  DATABASE_URL: 'postgresql://svc@127.0.0.1/svc',
  DATABASE_ALLOW_ASYNC_STANDBY: '0',
  DATABASE_POOL_MAX: 10,
  DATABASE_BATCH_MAX: 64,
  DATABASE_CONNECT_TIMEOUT_MS: 5_000,
  DATABASE_ANSWER_TIMEOUT_MS: 15_000,
  REDIS_URL: 'redis://127.0.0.1',
  SVC_MASTER_KEY: 'k1:',
  REDIS_PREFIX: 'svc',
  LOG_LEVEL: 'silent',
  RECONCILE_INTERVAL_MS: 1_000,
  ADMIN_HOST: '127.0.0.1',
  ADMIN_PORT: 0,
};

function faultOf(variables: Partial<CommonConfig>, jobs?: JobLimit): string {
  try {
    assertLimitsAgree({ ...defaults, ...variables }, jobs);
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

const dispatch = (jobsMax: number) => ({ variable: 'DISPATCH_CONCURRENCY', jobsMax });

test('the defaults agree, and so does the smallest pool with the default number of jobs', () => {
  expect(faultOf({}, dispatch(128))).toBe('');
  expect(faultOf({ DATABASE_POOL_MAX: 2 }, dispatch(128))).toBe('');
});

test('the client waits longer than Postgres may take for a statement', () => {
  expect(faultOf({ DATABASE_ANSWER_TIMEOUT_MS: 10_000 })).toContain(
    'DATABASE_ANSWER_TIMEOUT_MS is 10000, but Postgres may take 10000 ms for a statement',
  );
  expect(faultOf({ DATABASE_ANSWER_TIMEOUT_MS: 10_001 })).toBe('');
});

test('a call ends before another process may take its work over', () => {
  expect(faultOf({ DATABASE_ANSWER_TIMEOUT_MS: 29_999 })).toBe('');
  const fault = faultOf({ DATABASE_ANSWER_TIMEOUT_MS: 60_000 });
  expect(fault.split('\n').map((line) => /may take over (.*) after/u.exec(line)?.[1])).toEqual([
    'a running submission',
    'a delivery',
    'a job of a queue',
  ]);
});

test('a wait for a connection is no longer than one for the answer', () => {
  expect(faultOf({ DATABASE_CONNECT_TIMEOUT_MS: 15_001 })).toContain(
    'Set DATABASE_CONNECT_TIMEOUT_MS to 15000 or less.',
  );
  expect(faultOf({ DATABASE_CONNECT_TIMEOUT_MS: 15_000 })).toBe('');
});

test('the jobs of a process fit into its pool', () => {
  const small = { DATABASE_POOL_MAX: 2, DATABASE_BATCH_MAX: 16 };
  expect(faultOf(small, dispatch(32))).toBe('');
  expect(faultOf(small, dispatch(33))).toBe(
    'DISPATCH_CONCURRENCY is 33, but 2 connections to Postgres with up to 16 calls each are enough for only 32. Lower DISPATCH_CONCURRENCY, or raise DATABASE_POOL_MAX or DATABASE_BATCH_MAX.',
  );
});
