import { randomUUID } from 'node:crypto';
import { queues, type DispatchJob } from '@svc/contracts';
import { expect, test } from 'vitest';
import { withTenantsInName, withTenantsOfName } from './job-tenants.ts';

const facts = {
  jobType: 'ats.application',
  tier: 'standard',
  targetHost: 'jobs.example.com',
  requestId: 'req-1',
} as const;

function jobOf(tenantIds: readonly (string | undefined)[]): DispatchJob {
  const each = tenantIds.map((tenantId) => ({
    heldAtMs: 1,
    facts,
    ...(tenantId === undefined ? {} : { tenantId }),
  }));
  return {
    submissionIds: tenantIds.map(() => randomUUID()),
    replyTo: 'gateway',
    held: { sentAtMs: 1, each },
  };
}

test('tenants travel in the name, so the payload is what every version reads', () => {
  const [a, b] = [randomUUID(), randomUUID()];
  const job = jobOf([a, b, a, undefined]);
  const { name, data } = withTenantsInName('dispatch', job);
  expect(data).toEqual({
    ...job,
    held: { ...job.held, each: Array.from({ length: 4 }, () => ({ heldAtMs: 1, facts })) },
  });
  expect(name.split(a)).toHaveLength(2);
  expect(withTenantsOfName(name, data)).toEqual(job);
});

test('a job without tenants keeps the name of its queue', () => {
  const job = jobOf([undefined]);
  const named = { name: queues.dispatch.name, data: job };
  expect(withTenantsInName('dispatch', job)).toEqual(named);
  const settlement = { submissionIds: [randomUUID()] };
  expect(withTenantsInName('settlement', settlement)).toEqual({
    name: queues.settlement.name,
    data: settlement,
  });
});

test.each([
  'dispatch.v1',
  'dispatch.v1 {',
  'x {"tenants":[],"of":[0]}',
  'x {"of":7}',
  '{"tenants":7,"of":[]}',
])('a name that does not fit leaves the payload as it is: %s', (name) => {
  const { data } = withTenantsInName('dispatch', jobOf([undefined]));
  expect(withTenantsOfName(name, data)).toEqual(data);
  expect(withTenantsOfName(name, null)).toBeNull();
});
