import { ConfigError, deniedCidrsOf } from '@svc/runtime';
import { expect, test } from 'vitest';
import { backoffSecondsOf, requestLimitsOf, type WebhooksConfig } from './config.ts';

const config: WebhooksConfig = {
  SVC_ENVIRONMENT: 'sandbox',
  DATABASE_URL: 'postgresql://a',
  DATABASE_ALLOW_ASYNC_STANDBY: '0',
  DATABASE_POOL_MAX: 10,
  DATABASE_BATCH_MAX: 64,
  DATABASE_CONNECT_TIMEOUT_MS: 5_000,
  DATABASE_ANSWER_TIMEOUT_MS: 15_000,
  REDIS_URL: 'redis://a',
  SVC_MASTER_KEY: '',
  REDIS_PREFIX: 'svc',
  LOG_LEVEL: 'info',
  RECONCILE_INTERVAL_MS: 1_000,
  ADMIN_HOST: '127.0.0.1',
  ADMIN_PORT: 0,
  WEBHOOK_BACKOFF_SECONDS: '5,60,300,900,2400,7200,18000',
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: '0',
  WEBHOOK_ENDPOINT_REQUESTS: 8,
  WEBHOOK_REQUESTS_MAX: 512,
};

test('the schedule is read from the configuration', () => {
  expect(backoffSecondsOf(config)).toEqual([5, 60, 300, 900, 2400, 7200, 18_000]);
});

test.each(['', 'soon', '1,,2', '1,2,3,4,5,6,7,8', '-1'])('%j is an invalid schedule', (text) => {
  expect(() => backoffSecondsOf({ ...config, WEBHOOK_BACKOFF_SECONDS: text })).toThrow(ConfigError);
});

test('OUTBOUND_DENY_CIDRS is a list of CIDR blocks, and a wrong one is named', () => {
  expect(deniedCidrsOf({ OUTBOUND_DENY_CIDRS: '8.8.8.0/24' })).toEqual(['8.8.8.0/24']);
  const wrong = { OUTBOUND_DENY_CIDRS: '8.8.8.8/24' };
  expect(() => deniedCidrsOf(wrong)).toThrow('OUTBOUND_DENY_CIDRS must be a list of CIDR blocks');
});

test('the requests to one endpoint may not exceed those to all', () => {
  expect(requestLimitsOf(config)).toEqual({ endpointRequestsMax: 8, requestsMax: 512 });
  const wrong = { ...config, WEBHOOK_ENDPOINT_REQUESTS: 65, WEBHOOK_REQUESTS_MAX: 64 };
  expect(() => requestLimitsOf(wrong)).toThrow(
    'WEBHOOK_ENDPOINT_REQUESTS is 65, but WEBHOOK_REQUESTS_MAX is 64.',
  );
});
