import * as fc from 'fast-check';

export const safeText = fc.string({ unit: 'binary', maxLength: 40 });

export const paths = fc.oneof(
  fc.webPath(),
  fc.constantFrom(
    '/',
    '/v1',
    '/v2/submissions',
    '/V1/quotes',
    '/v1/quotes/',
    '/v1/quotes',
    '/v1/rate-card',
    '/ready',
    '/docs/x',
    '/docs/guides/x',
    '/%2e%2e/',
  ),
  safeText.map((text) => `/v1/${encodeURIComponent(text.toWellFormed())}`),
);
export const signedRoutes = fc.constantFrom(
  ['POST', '/v1/submissions'],
  ['GET', '/v1/submissions'],
  ['POST', '/v1/quotes'],
  ['GET', '/v1/credits/balance'],
  ['GET', '/v1/credits/transactions'],
  ['GET', '/v1/rate-card'],
  ['GET', '/v1/settings'],
  ['PATCH', '/v1/settings'],
  ['GET', '/v1/webhooks/deliveries'],
  ['POST', '/v1/webhooks/test'],
  ['POST', '/v1/credits/purchase-intents'],
);
const ids = fc.oneof(
  fc.stringMatching(/^(sub|dlv|tnt)_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
  fc.stringMatching(/^[A-Za-z0-9_~.-]{1,40}$/),
  safeText.map((text) => encodeURIComponent(text.toWellFormed())),
);
export const idTargets = fc
  .tuple(
    fc.constantFrom(
      ['GET', '/v1/submissions/', ''],
      ['POST', '/v1/submissions/', '/cancel'],
      ['GET', '/v1/webhooks/deliveries/', ''],
      ['POST', '/v1/webhooks/deliveries/', '/redeliver'],
      ['GET', '/v1/credits/purchase-intents/', ''],
    ),
    ids,
  )
  .map(([[method = 'GET', before = '', behind = ''], id]) => ({
    method,
    target: `${before}${id}${behind}`,
  }));
export const lists = fc
  .tuple(
    fc.constantFrom('/v1/submissions', '/v1/credits/transactions', '/v1/webhooks/deliveries'),
    fc.array(
      fc.tuple(
        fc.constantFrom('limit', 'cursor', 'status', 'type', 'idempotencyKey', 'createdAfter'),
        fc.oneof(
          fc.constantFrom(
            '1',
            '100',
            '0',
            'submitted',
            'pending',
            'hold',
            '2026-01-01T00:00:00.000Z',
          ),
          safeText.map((text) => encodeURIComponent(text.toWellFormed())),
        ),
      ),
      { maxLength: 3 },
    ),
  )
  .map(([path, parameters]) => ({
    method: 'GET',
    target: `${path}?${parameters.map(([name, value]) => `${name}=${value}`).join('&')}`,
  }));
export const plainReads = fc
  .tuple(
    fc.constantFrom('GET', 'GET', 'HEAD'),
    fc.constantFrom(
      '/v1/credits/balance',
      '/v1/rate-card',
      '/v1/settings',
      '/ready',
      '/openapi.json',
      '/docs',
      '/docs/errors',
      '/docs/applicant-profile',
      '/docs/guides/money',
      '/docs/guides/money.md',
      '/docs/changelog.md',
      '/llms.txt',
      '/schemas/ats-application-profile.json',
    ),
  )
  .map(([method, target]) => ({ method, target }));
