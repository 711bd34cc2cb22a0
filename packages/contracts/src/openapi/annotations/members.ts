import { endpointMembers } from './endpoint-members.ts';
import * as examples from './examples.ts';
import { keyMembers } from './key-members.ts';
import { purchaseMembers } from './purchase-members.ts';

const eventData = Object.fromEntries(
  Object.entries(examples.webhooks).map(([type, { data }]) => [
    `${type}.data`,
    ['The facts of the event.', data] as const,
  ]),
);

/**
 * The description and the example of each member of the document. A key `Schema.member` has
 * precedence over a key `member`.
 */
export const members: Readonly<Record<string, readonly [description: string, example: unknown]>> = {
  // Errors.
  'Problem.type': ['A link to the description of the code.', '/docs/errors#insufficient_credits'],
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
  path: ['A JSON Pointer into the body. Empty for a query parameter.', '/payload/applicationUrl'],
  'ProblemError.message': [
    'The rule that the member or the parameter breaks, such as "is required".',
    'is required',
  ],
  keyword: ['The keyword of JSON Schema for this rule.', 'required'],
  parameter: ['The query parameter that breaks the rule.', 'limit'],
  // Amounts.
  estimated: ['The likely price.', 62.5],
  max: ['The highest price. A submission holds this amount.', 200],
  surge: ['The surge factor, included in the prices. It rises when the nodes are busy.', 1],
  'Refund.amount': ['The released part of the hold.', 200],
  charged: ['The charged credits.', 0],
  nodeSeconds: ['Seconds on the node.', 61.5],
  cpuSeconds: ['Seconds of CPU time.', 12],
  memoryGbSeconds: ['Gigabyte-seconds of memory.', 30],
  bandwidthMb: ['Megabytes sent and received.', 8],
  actions: ['Filled fields, clicks, uploads and navigations.', 5],
  balance: ['All credits, the held ones included.', 10_000],
  'SubmissionCreated.balance': [
    'The credits after the hold. `held` is only this hold.',
    { after: 9800, held: 200 },
  ],
  'createPurchase.balance': ['The credits after the purchase.', { after: 14_800 }],
  held: ['The held credits.', 200],
  available: ['`balance - held`.', 9800],
  after: ['The available credits afterwards.', 9800],
  rebateAccrued: ['The rebate on charges that has not been paid out.', 0],
  currency: ['The unit of the amounts.', 'credits'],
  usdPerCredit: ['The price of a credit in US dollars.', 0.01],
  version: ['The number of the rate card.', 1],
  surgeMultiplier: ['The current surge factor. It rises when the nodes are busy.', 1],
  jobTypes: ['The prices of each job type.', examples.rateCard.jobTypes],
  tiers: ['The prices of each tier.', examples.rateCard.jobTypes[0]?.tiers],
  standard: ['The prices of the tier `standard`.', examples.rateCard.jobTypes[0]?.tiers.standard],
  priority: ['The prices of the tier `priority`.', examples.rateCard.jobTypes[0]?.tiers.priority],
  instant: ['The prices of the tier `instant`.', examples.rateCard.jobTypes[0]?.tiers.instant],
  base: ['The credits for a run before its usage is added.', 20],
  min: ['The least credits for a run, before the factors of tier and surge.', 10],
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
  // Submissions.
  submissionId: ['The id of the submission.', examples.submissionId],
  'Submission.id': ['The id of the submission.', examples.submissionId],
  idempotencyKey: [
    'You can repeat a request with the same key and body: it is charged only once. Derive keys from your own records.',
    'application-8841-ana',
  ],
  jobType: ['The type of the job.', 'ats.application'],
  tier: ['The tier: how soon the job runs, and at which price.', 'standard'],
  payload: ['The input of the job.', examples.payload],
  quote: ['The quoted price.', examples.quote],
  sufficient: ['True if the available credits cover `quote.max`.', true],
  status: ['The state of the submission.', 'submitted'],
  'SubmissionCreated.status': ['A node has accepted the job.', 'dispatched'],
  'CancelAnswer.status': ['The submission is cancelled.', 'cancelled'],
  'submission.cancelled.status': ['The submission was cancelled.', 'cancelled'],
  'submission.failed.status': ['The submission failed.', 'failed'],
  'CancelAnswer.refund': ['The released and the charged credits.', examples.refund],
  idempotent: ['Present if this answer repeats the answer to an earlier request.', true],
  actualCredits: ['The charged credits. Null until the submission has ended.', 58.25],
  refundedCredits: ['The released credits. Null until the submission has ended.', 141.75],
  usage: [
    'The usage reported so far. Empty before the first report.',
    examples.submissionDetail.usage,
  ],
  failure: ['Why the submission failed. Null if it did not.', examples.failure],
  'SubmissionFailure.code': [
    'The reason as a code. Let programs decide by `retriable` and `outcomeUnknown`.',
    'posting_closed',
  ],
  'submission.failed.code': [
    'The reason as a code. Let programs decide by `retriable` and `outcomeUnknown`.',
    'posting_closed',
  ],
  message: ['The reason, for people.', 'The posting is closed.'],
  retriable: ['True if the same job may succeed with a new idempotency key.', false],
  outcomeUnknown: ['True if the job may have been done. Check this before you repeat it.', false],
  result: [
    'The result of a submitted job. Its members depend on the job type.',
    examples.submissionDetail.result,
  ],
  confirmationId: ['The confirmation number that the site showed.', 'GH-55821'],
  confirmationUrl: ['The page of the confirmation.', 'https://jobs.example.com/thanks/55821'],
  details: ['Facts about the run.', { adapter: 'greenhouse', fieldsFilled: 14 }],
  lateOutcome: [
    'An outcome that a node reported after the submission ended. Null if there is none.',
    { status: 'submitted', at: '2026-03-02T09:46:12.004Z' },
  ],
  createdAt: ['The time of the creation.', '2026-03-02T09:15:00.000Z'],
  dispatchedAt: ['The time at which a node accepted the job.', '2026-03-02T09:15:00.041Z'],
  startedAt: ['The time at which the run began.', '2026-03-02T09:15:00.318Z'],
  finishedAt: ['The time at which the submission ended.', '2026-03-02T09:16:01.901Z'],
  at: ['The time at which it happened.', '2026-03-02T09:46:12.004Z'],
  applicationUrl: [
    'The URL of the application page: http or https, with a public host and without credentials.',
    examples.payload.applicationUrl,
  ],
  atsType: [
    'The kind of the site, as a hint. In the sandbox it selects what the simulated node does.',
    'greenhouse',
  ],
  applicantProfile: ['The applicant.', examples.payload.applicantProfile],
  jobContext: ['The job. Further members are allowed.', examples.payload.jobContext],
  title: ['The title of the job.', 'Welder'],
  company: ['The employer.', 'Example Works'],
  // Lists.
  data: ['The items, newest first.', []],
  nextCursor: ['Pass it as `cursor` to get the next page. Null on the last page.', examples.cursor],
  // Statement.
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
  reference: [
    'The reference of a purchase or grant. Null for other movements.',
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
  attempts: ['The attempts of the current round.', examples.delivery.attempts],
  nextAttemptAt: [
    'The time of the next attempt. Null if there is none.',
    '2026-03-02T09:21:02.000Z',
  ],
  number: ['The number of the attempt, from 1.', 1],
  statusCode: ['The HTTP status of the response. Null without a response.', 204],
  durationMs: ['The duration of the attempt in milliseconds.', 84],
  error: ['Why there is no response. Null if there is a response.', 'connection refused'],
  response: ['The first 1 KiB of the response.', 'ok'],
  deliveryId: ['The id of the delivery.', examples.deliveryId],
  ...eventData,
  by: ['Who cancelled the submission.', 'tenant'],
  'settings.changed.by': ['Who made the change: a tenant key or an operator.', { keyId: null }],
  'settings.changed.at': ['The time of the change.', '2026-03-02T09:16:01.950Z'],
  what: ['The change, such as `settings.updated`.', 'endpoint.created'],
  'settings.changed.keyId': ['The id of the signing key. Null if no key with an id signed.', null],
  operator: ['The id of the operator, or `local` for a program.', 'op_01jd5q0000f1x8m3t6w9b2z4vn'],
  threshold: ['The balance is below this threshold.', 1000],
  // Settings.
  webhookUrl: ['The URL of your endpoint. Null if there is none.', 'https://hooks.example.com/svc'],
  'signUp.webhookUrl': [
    'The URL of your endpoint. In a form, the field may be empty.',
    'https://hooks.example.com/svc',
  ],
  lowBalanceThreshold: [
    'The service sends `credits.low_balance` when the balance falls below this value, or when you raise this value above the balance.',
    1000,
  ],
  webhookDisabled: [
    'When and why deliveries to the URL were disabled. Null if they are enabled.',
    { at: '2026-03-02T09:46:12.004Z', reason: 'The endpoint answered 410.' },
  ],
  reason: ['The reason, for people.', 'The endpoint answered 410.'],
  allowedJobTypes: ['The job types that this tenant may use.', ['ats.application']],
  tenantId: ['The id of the tenant.', examples.tenantId],
  environment: ['The environment: sandbox or production.', 'sandbox'],
  ...keyMembers,
  // Purchases and sign-up.
  credits: ['The credits to add.', 5000],
  usd: ['The paid US dollars.', 50],
  note: ['A note for the records.', 'Invoice of March'],
  purchaseId: ['The id of the purchase.', 'pur_01jd5q0000f1x8m3t6w9b2z4vn'],
  token: ['The token to pay with.', 'USDC'],
  name: ['The name of the tenant.', 'Example Works'],
  hmacSecret: ['The signing secret. It is shown only once.', 'hsk_test_vectorVectorVectorVector01'],
  webhookSecret: ['The webhook secret. It is shown only once.', 'whsec_c3ZjLXdlYmhvb2s='],
  ...purchaseMembers,
};

/**
 * Formats and patterns that the schemas of these members and parameters lack. The keys are as in
 * `members`.
 */
export const formats: Readonly<Record<string, object>> = {
  'Problem.type': { format: 'uri-reference' },
  webhookUrl: { format: 'uri' },
  // Excludes this member from the format of `webhookUrl`.
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
 * The formats that only our validator knows. For each, the value is the standard format that the
 * document shows in its place.
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
  limit: ['The number of items on a page.', 20],
  cursor: ['`nextCursor` of the previous page.', examples.cursor],
  after: ['`nextCursor` of the previous page.', examples.cursor],
  waitSeconds: ['The seconds to wait for an event if there is none. Default: 0.', 30],
  timeoutSeconds: ['The most seconds to wait for the payment. Default: 30.', 30],
};
