import { eventBody, eventTypes, lowBalanceEventData, submissionEventData } from '@svc/domain';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { webhookEvents } from './webhook-events.ts';

const ajv = new Ajv2020({ strict: true });
const isEvent = ajv.compile({ anyOf: Object.values(webhookEvents) });

const figures = {
  submissionId: 'sub_01h455vb4pex5vsknk084sn02q',
  jobType: 'ats.application',
  tier: 'priority',
  actualMicros: 1n,
  refundedMicros: 299_999_999n,
} as const;
const failure = { code: 'captcha', message: 'x', retriable: false, outcomeUnknown: false };

const dataOf = {
  'submission.completed': submissionEventData({ ...figures, kind: 'completed' }),
  'submission.failed': submissionEventData({ ...figures, kind: 'failed', failure }),
  'submission.cancelled': submissionEventData({ ...figures, kind: 'cancelled', by: 'tenant' }),
  'submission.late_outcome': {
    submissionId: figures.submissionId,
    status: 'submitted',
    at: '2026-01-02T03:04:05.006Z',
  },
  'credits.low_balance': lowBalanceEventData({
    balanceMicros: 5n,
    heldMicros: 2n,
    thresholdMicros: 10n,
  }),
  'credits.purchased': { reference: 'r', credits: 5, paidAmount: 0.05, signature: 's' },
  'settings.changed': {
    what: 'endpoint.created',
    by: { keyId: null },
    at: '2026-01-02T03:04:05.006Z',
  },
  'webhook.test': {},
} as const;

test.each(eventTypes)('a body of %s matches its own schema and no other event', (type) => {
  const id = 'evt_01h455vb4pex5vsknk084sn02q';
  const body: unknown = JSON.parse(eventBody({ id, type, at: new Date(), data: dataOf[type] }));
  expect(isEvent(body)).toBe(true);
  const matching = eventTypes.filter((other) => ajv.validate(webhookEvents[other], body));
  expect(matching).toEqual([type]);
});

test('a member that a later version adds is not an error', () => {
  const body: unknown = {
    id: 'evt_01h455vb4pex5vsknk084sn02q',
    type: 'webhook.test',
    timestamp: '2026-01-02T03:04:05.006Z',
    data: { later: true },
    later: 1,
  };
  expect(isEvent(body)).toBe(true);
});
