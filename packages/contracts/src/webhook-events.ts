import type { EventType } from '@svc/domain';
import { Type } from 'typebox';

/**
 * The bodies of webhooks (CONTRACT 6), for OpenAPI and for tests. They may have additional members,
 * because v1 may add members at any time (CONTRACT 0).
 */

const SubmissionId = Type.String({ pattern: '^sub_[0-7][0-9a-hjkmnp-tv-z]{25}$' });
const EventId = Type.String({ pattern: '^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$' });
const Timestamp = Type.String({
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$',
  description: 'An RFC 3339 time in UTC with milliseconds.',
});
const Credits = Type.Number({ description: 'The unit is credits, with at most six decimals.' });
const Tier = Type.Union([
  Type.Literal('standard'),
  Type.Literal('priority'),
  Type.Literal('instant'),
]);

const ending = {
  submissionId: SubmissionId,
  jobType: Type.String(),
  tier: Tier,
  actualCredits: Credits,
  refundedCredits: Credits,
};

export const EventFailure = Type.Object({
  code: Type.String(),
  message: Type.String(),
  retriable: Type.Boolean(),
  outcomeUnknown: Type.Boolean(),
});

export const CompletedData = Type.Object({ ...ending, status: Type.Literal('submitted') });
export const FailedData = Type.Object({
  ...ending,
  status: Type.Literal('failed'),
  failure: EventFailure,
});
export const CancelledData = Type.Object({
  ...ending,
  status: Type.Literal('cancelled'),
  by: Type.Union([Type.Literal('tenant'), Type.Literal('operator')]),
});
export const LateOutcomeData = Type.Object({
  submissionId: SubmissionId,
  status: Type.Union([Type.Literal('submitted'), Type.Literal('failed')]),
  at: Timestamp,
});
export const LowBalanceData = Type.Object({
  balance: Credits,
  available: Credits,
  held: Credits,
  threshold: Credits,
});
export const PurchasedData = Type.Object({
  reference: Type.String({ description: 'The value is the `reference` of the intent.' }),
  credits: Credits,
  paidAmount: Type.Number({ description: 'The unit is USDC, with at most six decimals.' }),
  signature: Type.String({
    description: 'Never null in this event.',
  }),
});
/**
 * The data of `settings.changed`. `what` names the change, such as `endpoint.created`. The schema
 * accepts any name, because the service may add names.
 */
export const SettingsChangedData = Type.Object({
  what: Type.String({ description: 'More values may be added.' }),
  by: Type.Union([
    Type.Object({ keyId: Type.Union([Type.String(), Type.Null()]) }),
    Type.Object({ operator: Type.String() }),
  ]),
  at: Timestamp,
});
export const TestData = Type.Object({});

const envelope = { id: EventId, timestamp: Timestamp };

export const webhookEvents = {
  'submission.completed': Type.Object({
    ...envelope,
    type: Type.Literal('submission.completed'),
    data: CompletedData,
  }),
  'submission.failed': Type.Object({
    ...envelope,
    type: Type.Literal('submission.failed'),
    data: FailedData,
  }),
  'submission.cancelled': Type.Object({
    ...envelope,
    type: Type.Literal('submission.cancelled'),
    data: CancelledData,
  }),
  'submission.late_outcome': Type.Object({
    ...envelope,
    type: Type.Literal('submission.late_outcome'),
    data: LateOutcomeData,
  }),
  'credits.low_balance': Type.Object({
    ...envelope,
    type: Type.Literal('credits.low_balance'),
    data: LowBalanceData,
  }),
  'credits.purchased': Type.Object({
    ...envelope,
    type: Type.Literal('credits.purchased'),
    data: PurchasedData,
  }),
  'settings.changed': Type.Object({
    ...envelope,
    type: Type.Literal('settings.changed'),
    data: SettingsChangedData,
  }),
  'webhook.test': Type.Object({
    ...envelope,
    type: Type.Literal('webhook.test'),
    data: TestData,
  }),
} as const satisfies Record<EventType, unknown>;
