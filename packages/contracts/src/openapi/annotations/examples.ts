/** The examples in the OpenAPI document. A test checks each example against its schema. */

export const submissionId = 'sub_01jd5qz8v0e3wvr9n7tk2m4xhc';
export const tenantId = 'tnt_01jd5qz2m8f0gan4c6s1yb7kpe';
export const requestId = '0193cb7a-4c1e-7d53-9a44-5f0c52d3c1aa';

export const payload = {
  applicationUrl: 'https://jobs.example.com/apply/8841',
  atsType: 'greenhouse',
  applicantProfile: {
    basics: { name: 'Ana Pérez', email: 'ana@example.com' },
    answers: [{ question: 'Years of experience', answer: '7' }],
  },
  jobContext: { title: 'Welder', company: 'Example Works' },
};

export const quote = { estimated: 62.5, max: 200, surge: 1 };

export const submissionCreated = {
  submissionId,
  status: 'dispatched',
  quote,
  balance: { after: 9800, held: 200 },
};

export const submissionDetail = {
  id: submissionId,
  status: 'submitted',
  jobType: 'ats.application',
  tier: 'standard',
  idempotencyKey: 'application-8841-ana',
  quote,
  actualCredits: 58.25,
  refundedCredits: 141.75,
  usage: { nodeSeconds: 61.5, cpuSeconds: 12, memoryGbSeconds: 30, bandwidthMb: 8, actions: 5 },
  failure: null,
  result: { confirmationId: 'GH-55821', confirmationUrl: 'https://jobs.example.com/thanks/55821' },
  lateOutcome: null,
  createdAt: '2026-03-02T09:15:00.000Z',
  dispatchedAt: '2026-03-02T09:15:00.041Z',
  startedAt: '2026-03-02T09:15:00.318Z',
  finishedAt: '2026-03-02T09:16:01.901Z',
};

export const cursor = 'AQGdvP2hgAGTY3vX6E8sTZ1tY8J2l8Q';

export const failure = {
  code: 'posting_closed',
  message: 'The posting is closed.',
  retriable: false,
  outcomeUnknown: false,
};

export const refund = { amount: 200, charged: 0 };

export const balance = {
  balance: 10_000,
  held: 200,
  available: 9800,
  rebateAccrued: 0,
  currency: 'credits',
  usdPerCredit: 0.01,
};

const rate = (tierMultiplier: number) => ({
  base: 20,
  min: 10,
  max: 200,
  tierMultiplier,
  weights: {
    nodeSeconds: 0.5,
    cpuSeconds: 0.2,
    memoryGbSeconds: 0.05,
    bandwidthMb: 0.1,
    actions: 0.5,
  },
});

export const rateCard = {
  version: 1,
  surgeMultiplier: 1,
  usdPerCredit: 0.01,
  jobTypes: [
    {
      jobType: 'ats.application',
      tiers: { standard: rate(1), priority: rate(1.5), instant: rate(2.5) },
    },
  ],
};

export const deliveryId = 'dlv_01jd5r0w6mfqsbx41c7thp2n8e';

export const webhookEndpoint = {
  id: 'whe_01jd5qzd3xe9w8kq6r2m5v7tbn',
  kind: 'push',
  url: 'https://hooks.example.com/accounting',
  events: ['submission.completed', 'submission.failed'],
  description: 'Accounting',
  disabled: null,
  createdAt: '2026-03-02T09:15:00.000Z',
};

export const delivery = {
  id: deliveryId,
  endpointId: null,
  eventId: 'evt_01jd5r0w6kf9hs2dq3v8ncx5ta',
  type: 'submission.completed',
  status: 'delivered',
  attempts: [
    {
      number: 1,
      at: '2026-03-02T09:16:02.006Z',
      statusCode: 204,
      durationMs: 84,
      error: null,
      response: '',
    },
  ],
  nextAttemptAt: null,
  createdAt: '2026-03-02T09:16:01.950Z',
};

export const transaction = {
  id: 'txn_01jd5r0w6h3kb8v2gyx0dn5m7s',
  type: 'charge',
  amount: 58.25,
  balanceAfter: 9941.75,
  heldAfter: 141.75,
  availableAfter: 9800,
  submissionId,
  reference: null,
  createdAt: '2026-03-02T09:16:01.950Z',
};

export const settings = {
  webhookUrl: 'https://hooks.example.com/submissions',
  lowBalanceThreshold: 1000,
  webhookDisabled: null,
  allowedJobTypes: ['ats.application'],
  tenantId,
  environment: 'sandbox',
};

export const keyId = 'key_01jd5q9m3rfw2a7v5yt8n6c1kx';

export const hmacSecret = 'hsk_test_vectorVectorVectorVector01';

export const key = {
  keyId,
  scopes: ['read'],
  addresses: ['203.0.113.0/24'],
  createdAt: '2026-03-02T09:10:00.000Z',
  expiresAt: '2026-05-31T09:10:00.000Z',
  lastUsedAt: '2026-03-02T09:15:00.000Z',
};

export const auditEntry = {
  what: 'key.created',
  by: { keyId: 'key_01jd5qz2m8f0gan4c6s1yb7kpe' },
  at: '2026-03-02T09:10:00.000Z',
  before: null,
  after: {
    keyId,
    scopes: ['read'],
    addresses: ['203.0.113.0/24'],
    expiresAt: '2026-05-31T09:10:00.000Z',
  },
  requestId,
};

export const purchase = {
  purchaseId: 'pur_01jd5q0000f1x8m3t6w9b2z4vn',
  tenantId,
  credits: 5000,
  balance: { after: 14_800 },
};

export const solanaReference = '7dHbWXmci3dT8UFYWYZweBLXgycu7Y3iL6trKn1Y7ARj';

const solanaSignature =
  '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';

export const purchaseIntent = {
  reference: solanaReference,
  solanaPayUrl: `solana:mvines9iiHiQTysrwkJjGf2gb9Ex9jXJX8ns3qwf2kN?amount=50&spl-token=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v&reference=${solanaReference}&label=Submission%20service&message=5000%20credits`,
  credits: 5000,
  amount: 50,
  token: 'USDC',
  status: 'pending',
  paidAmount: 0,
  signature: null,
  confirmedAt: null,
  payments: [],
  createdAt: '2026-03-02T09:15:00.000Z',
  expiresAt: '2026-03-02T10:15:00.000Z',
};

const event = (type: string, data: object) => ({
  id: 'evt_01jd5r0w6kf9hs2dq3v8ncx5ta',
  type,
  timestamp: '2026-03-02T09:16:01.950Z',
  data,
});

const ended = { submissionId, jobType: 'ats.application', tier: 'standard' };

export const webhooks = {
  'submission.completed': event('submission.completed', {
    ...ended,
    status: 'submitted',
    actualCredits: 58.25,
    refundedCredits: 141.75,
  }),
  'submission.failed': event('submission.failed', {
    ...ended,
    status: 'failed',
    actualCredits: 0,
    refundedCredits: 200,
    failure,
  }),
  'submission.cancelled': event('submission.cancelled', {
    ...ended,
    status: 'cancelled',
    actualCredits: 0,
    refundedCredits: 200,
    by: 'tenant',
  }),
  'submission.late_outcome': event('submission.late_outcome', {
    submissionId,
    status: 'submitted',
    at: '2026-03-02T09:46:12.004Z',
  }),
  'credits.low_balance': event('credits.low_balance', {
    balance: 958.25,
    available: 758.25,
    held: 200,
    threshold: 1000,
  }),
  'credits.purchased': event('credits.purchased', {
    reference: solanaReference,
    credits: 5000,
    paidAmount: 50,
    signature: solanaSignature,
  }),
  'settings.changed': event('settings.changed', {
    what: 'endpoint.created',
    by: { keyId: null },
    at: '2026-03-02T09:16:01.950Z',
  }),
  'webhook.test': event('webhook.test', {}),
} as const;
