import { endpointMembers } from './endpoint-members.ts';
import * as examples from './examples.ts';
import { keyMembers } from './key-members.ts';
import { purchaseMembers } from './purchase-members.ts';
import { submissionMembers } from './submission-members.ts';

const eventData = Object.fromEntries(
  Object.entries(examples.webhooks).map(([type, { data }]) => [
    `${type}.data`,
    ['The facts of the event.', data] as const,
  ]),
);

/**
 * Notes on the members of the document; a key `name.member` has precedence over a key `member`.
 * `name` is the name of a schema, an `operationId` or an event type.
 */
export const members: Readonly<Record<string, readonly [description: string, example: unknown]>> = {
  // Errors.
  'Problem.type': [
    'A link to the description of the error that `code` names.',
    '/docs/errors#insufficient_credits',
  ],
  'Problem.title': ['The kind of error in a few words.', 'Insufficient credits'],
  'Problem.status': ['The HTTP status.', 402],
  'Problem.code': ['The stable code. Let programs decide by this code.', 'insufficient_credits'],
  detail: ['The reason for this answer, for people.', 'The credits do not cover the quote.'],
  requestId: ['The id of the request. Quote it when you contact support.', examples.requestId],
  required: ['For 402: the credits that the submission would have held.', 200],
  errors: [
    'For 422: each violation.',
    [{ path: '/payload/atsType', message: 'is required', keyword: 'required' }],
  ],
  submissionStatus: ['For `terminal_state`: the status of the submission.', 'cancelled'],
  'Problem.refund': [
    'For `terminal_state`: the refund, if the submission was cancelled.',
    examples.refund,
  ],
  'Problem.reference': [
    'The `reference` of the purchase intent.',
    '7dHbWXmci3dT8UFYWYZweBLXgycu7Y3iL6trKn1Y7ARj',
  ],
  retryAfterSeconds: ['For 429 and 503: the seconds to wait before you repeat the request.', 1],
  path: [
    'A JSON Pointer to the part of the body that breaks the rule. Empty for the whole body and for a query parameter.',
    '/payload/applicationUrl',
  ],
  'ProblemError.message': [
    'The rule that the member or the parameter breaks, such as "is required".',
    'is required',
  ],
  keyword: [
    'The JSON Schema keyword of this rule, or the name that the service gives the rule, such as `uniqueMembers`.',
    'required',
  ],
  parameter: ['The query parameter that breaks the rule.', 'limit'],
  // Amounts.
  estimated: ['The likely price.', 62.5],
  max: ['The highest price. A submission holds this amount.', 200],
  surge: ['The surge multiplier, included in the prices. It rises when the nodes are busy.', 1],
  'Refund.amount': ['The released part of the hold.', 200],
  charged: ['The charged credits.', 0],
  nodeSeconds: ['Seconds that the job has run on the node.', 61.5],
  cpuSeconds: ['Seconds of CPU time.', 12],
  memoryGbSeconds: ['Gigabyte-seconds of memory.', 30],
  bandwidthMb: ['Megabytes sent and received.', 8],
  actions: ['Filled fields, clicks, uploads and navigations.', 5],
  balance: ['All credits, the held ones included.', 10_000],
  'SubmissionCreated.balance': [
    'The available credits after the hold (`after`), and the amount of this hold (`held`).',
    { after: 9800, held: 200 },
  ],
  'createPurchase.balance': [
    'The available credits after the purchase (`after`).',
    { after: 14_800 },
  ],
  held: ['The held credits.', 200],
  available: ['`balance - held`.', 9800],
  after: ['The available credits after the hold or the purchase.', 9800],
  rebateAccrued: ['The unpaid rebate on charges.', 0],
  currency: ['The unit of the amounts.', 'credits'],
  usdPerCredit: ['The price of a credit in US dollars.', 0.01],
  version: ['The number of the rate card.', 1],
  surgeMultiplier: ['The current surge multiplier. It rises when the nodes are busy.', 1],
  jobTypes: ['The prices of each job type.', examples.rateCard.jobTypes],
  tiers: ['The prices of each tier.', examples.rateCard.jobTypes[0]?.tiers],
  standard: ['The prices of the tier `standard`.', examples.rateCard.jobTypes[0]?.tiers.standard],
  priority: ['The prices of the tier `priority`.', examples.rateCard.jobTypes[0]?.tiers.priority],
  instant: ['The prices of the tier `instant`.', examples.rateCard.jobTypes[0]?.tiers.instant],
  base: ['The credits for a completed run before its usage is added.', 20],
  min: ['The least credits for a completed run, before the factors of tier and surge.', 10],
  'Rate.max': ['The most credits for a run, before the factors of tier and surge.', 200],
  tierMultiplier: ['The factor of the tier.', 1.5],
  weights: [
    'The credits for each unit of usage.',
    examples.rateCard.jobTypes[0]?.tiers.standard.weights,
  ],
  // Service.
  'Ready.status': ['The service is ready.', 'ready'],
  'NotReady.status': ['The service is not ready.', 'not_ready'],
  missing: ['The dependencies that do not answer.', ['postgres']],
  ...submissionMembers,
  // Lists.
  data: ['The items, newest first.', []],
  nextCursor: ['Pass it as `cursor` to get the next page. Null on the last page.', examples.cursor],
  // Account statement and purchases.
  'Transaction.id': ['The id of the movement.', examples.transaction.id],
  'Transaction.type': ['The kind of the movement.', 'charge'],
  'Transaction.submissionId': [
    'The submission, if the movement belongs to one.',
    examples.submissionId,
  ],
  amount: ['The moved credits, always positive.', 58.25],
  balanceAfter: ['The balance after the movement.', 9941.75],
  heldAfter: ['The held credits after the movement.', 141.75],
  availableAfter: ['The available credits after the movement.', 9800],
  reference: ['The idempotency key of the purchase. It never expires.', 'invoice-2026-0117'],
  'Transaction.reference': [
    'For a `grant`, the reference of the purchase or grant. For a `reversal`, the reference of the purchase that it reverses. Null for other types.',
    'invoice-2026-0117',
  ],
  // Webhooks.
  'Delivery.id': ['The id of the delivery, as in `X-SVC-Delivery`.', examples.deliveryId],
  'Delivery.status': ['The state of the delivery.', 'delivered'],
  type: ['The type of the event.', 'submission.completed'],
  ...endpointMembers,
  eventId: ['The id of the event.', examples.delivery.eventId],
  id: ['The id of the event.', examples.delivery.eventId],
  timestamp: ['The time of the event.', '2026-03-02T09:16:01.950Z'],
  attempts: [
    'The attempts of the current round. A new round begins when a delivery is sent again.',
    examples.delivery.attempts,
  ],
  nextAttemptAt: [
    'The earliest time of the next attempt. Null if there is none.',
    '2026-03-02T09:21:02.000Z',
  ],
  number: ['The number of the attempt, from 1.', 1],
  statusCode: [
    'The HTTP status of the response. Null if there is no complete response, or if the result was not recorded.',
    204,
  ],
  durationMs: ['The duration of the attempt in milliseconds.', 84],
  error: [
    'Why there is no complete response. Null if there is one, or if the result was not recorded.',
    'connection refused',
  ],
  response: ['The first 1 KiB of the response.', 'ok'],
  deliveryId: ['The id of the delivery.', examples.deliveryId],
  ...eventData,
  by: ['Who cancelled the submission.', 'tenant'],
  'settings.changed.by': ['Who made the change: a tenant key or an operator.', { keyId: null }],
  'settings.changed.at': ['The time of the change.', '2026-03-02T09:16:01.950Z'],
  what: ['The change, such as `settings.updated`.', 'endpoint.created'],
  'settings.changed.keyId': [
    'The id of the key that signed the request for the change. Null if no key is recorded.',
    null,
  ],
  operator: [
    'The id of the operator. `local` if a program of the service made the change without the key of an operator.',
    'op_01jd5q0000f1x8m3t6w9b2z4vn',
  ],
  threshold: ['The balance is below this threshold.', 1000],
  // Settings.
  webhookUrl: [
    'The URL to which the service posts events of all types. Null if there is none. Webhook endpoints have their own URLs.',
    'https://hooks.example.com/svc',
  ],
  'signUp.webhookUrl': [
    'The URL to which the service posts events. In a form, the field may be empty.',
    'https://hooks.example.com/svc',
  ],
  lowBalanceThreshold: [
    'The service sends `credits.low_balance` when a charge takes the balance below this value, or when you raise this value above the balance.',
    1000,
  ],
  webhookDisabled: [
    'When and why deliveries to `webhookUrl` were disabled. Null if they are enabled.',
    { at: '2026-03-02T09:46:12.004Z', reason: 'the endpoint answered 410 Gone' },
  ],
  reason: ['The reason, for people.', 'the endpoint answered 410 Gone'],
  allowedJobTypes: ['The job types that this tenant may use.', ['ats.application']],
  tenantId: ['The id of the tenant.', examples.tenantId],
  environment: ['The environment: sandbox or production.', 'sandbox'],
  ...keyMembers,
  // Purchases and sign-up.
  credits: ['The credits of the purchase.', 5000],
  usd: ['The paid US dollars.', 50],
  note: ['A note for the records.', 'Invoice of March'],
  purchaseId: ['The id of the purchase.', 'pur_01jd5q0000f1x8m3t6w9b2z4vn'],
  token: ['The token to pay with.', 'USDC'],
  name: ['The name of the tenant.', 'Example Works'],
  hmacSecret: [
    'The secret with which you sign requests. It is shown only once.',
    'hsk_test_vectorVectorVectorVector01',
  ],
  webhookSecret: [
    'The secret with which you verify webhooks. It is shown only once.',
    'whsec_c3ZjLXdlYmhvb2s=',
  ],
  ...purchaseMembers,
};

/**
 * Formats and patterns that the document adds to the schemas of members and parameters. The keys
 * are as in `members`.
 */
export const formats: Readonly<Record<string, object>> = {
  'Problem.type': { format: 'uri-reference' },
  webhookUrl: { format: 'uri' },
  // Without this entry, the entry `webhookUrl` would also apply to this member.
  'signUp.webhookUrl': {},
  cursor: { pattern: '^[A-Za-z0-9_-]{31}$' },
  after: { pattern: '^[A-Za-z0-9_-]{31}$' },
  nextCursor: { pattern: '^[A-Za-z0-9_-]{31}$' },
  createdAfter: {
    pattern:
      '^[12][0-9]{3}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,3})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$',
  },
  createdBefore: {
    pattern:
      '^[12][0-9]{3}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,3})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$',
  },
};

/**
 * Maps a format that only our validator knows to the standard format in the document. A format
 * without a standard counterpart, such as `cidr`, is not a key.
 */
export const standardFormats: Readonly<Record<string, string>> = {
  'public-http-url': 'uri',
  'query-time': 'date-time',
};

export const parameters: Readonly<
  Record<string, readonly [description: string, example: unknown]>
> = {
  status: ['Only items with this status.', undefined],
  type: ['Only movements of this kind.', 'charge'],
  submissionId: ['Only movements of this submission.', examples.submissionId],
  idempotencyKey: ['Only the submission with this key.', 'application-8841-ana'],
  createdAfter: ['Only submissions created at this time or later.', '2026-03-02T09:15:00.000Z'],
  createdBefore: ['Only submissions created before this time.', '2026-03-03T00:00:00+01:00'],
  limit: ['The most items on a page.', 20],
  cursor: ['`nextCursor` of the previous page.', examples.cursor],
  after: ['`nextCursor` of the previous page.', examples.cursor],
  waitSeconds: ['The most seconds to wait for an event if there is none. Default: 0.', 30],
  timeoutSeconds: ['The most seconds to wait for the payment. Default: 30.', 30],
};
