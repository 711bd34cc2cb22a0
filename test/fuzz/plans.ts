import * as fc from 'fast-check';
import { job } from '../support/job.ts';
import { idTargets, lists, paths, plainReads, safeText, signedRoutes } from './targets.ts';

/** A generated request. The test signs the request before sending, unless `signer` is `nobody`. */
export interface Plan {
  /** The step of the gateway that the request should reach (`stageShares`). */
  readonly stage: Stage;
  readonly method: string;
  readonly target: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signer: Signer;
  /**
   * How the authentication is made to fail. Undefined if it succeeds, or if the request is not
   * signed.
   */
  readonly spoiled?: Spoiling;
}

export type Signer = 'rich' | 'poor' | 'barred' | 'unpriced' | 'nobody';
type Spoiling =
  | { readonly kind: 'late'; readonly seconds: number }
  | { readonly kind: 'secret' | 'unknown' | 'other_body' | 'two_identities' }
  | { readonly kind: 'header'; readonly name: string; readonly value: string };

/**
 * The relative share of each stage in the requests. A stage is a step of the gateway that can
 * answer a request. The stages of a submission are in the order of CONTRACT 3.
 */
export const stageShares = {
  unparsable: 2,
  route: 5,
  size: 1,
  signature: 14,
  query: 5,
  media_type: 4,
  json: 8,
  key: 5,
  lookup: 6,
  envelope: 6,
  job_type: 4,
  allowlist: 4,
  tier: 4,
  payload: 8,
  quote: 3,
  hold: 4,
  dispatch: 1,
  created: 4,
  reads: 12,
  settings: 3,
} as const;
export type Stage = keyof typeof stageShares;

const keys = fc.stringMatching(/^[A-Za-z0-9 -]{1,40}$/);
const anything = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value));
const characters = fc.constantFrom(
  ...Array.from('{}[]",:\\0e-.tn \u0000\u0001é'),
  '\ud83d',
  '\ufeff',
  '""',
  '1e999',
);

interface Edit {
  readonly at: number;
  readonly kind: 'insert' | 'delete' | 'repeat' | 'cut';
  readonly text: string;
}
const edits = fc.array(
  fc.record<Edit>({
    at: fc.nat(9_999),
    kind: fc.constantFrom('insert', 'delete', 'repeat', 'cut'),
    text: characters,
  }),
  { minLength: 1, maxLength: 5 },
);

function edited(text: string, changes: readonly Edit[]): string {
  let result = text;
  for (const { at, kind, text: piece } of changes) {
    const place = Math.floor((at / 10_000) * result.length);
    if (kind === 'insert') result = result.slice(0, place) + piece + result.slice(place);
    if (kind === 'delete') result = result.slice(0, place) + result.slice(place + 1 + (at % 7));
    if (kind === 'repeat') result = result.slice(0, place + 12) + result.slice(place);
    if (kind === 'cut' && place > 0) result = result.slice(0, place);
  }
  return result;
}

const post = (stage: Stage, body: Plan['body'], signer: Signer = 'rich'): Plan => ({
  stage,
  method: 'POST',
  target: '/v1/submissions',
  ...(body === undefined ? {} : { body }),
  signer,
});
const valid = (key: string, changes: object = {}) => JSON.stringify(job(key, { ...changes }));

/**
 * Returns the JSON text of a valid body, but with another value for the member at `path`. `value`
 * is JSON text, too.
 */
function withMember(key: string, path: readonly string[], value: string): string {
  const body: unknown = JSON.parse(valid(key));
  let parent = Object(body);
  for (const name of path.slice(0, -1)) parent = Object(parent[name]);
  parent[path.at(-1) ?? ''] = JSON.parse(value);
  return JSON.stringify(body);
}

const spoilings: fc.Arbitrary<Spoiling> = fc.oneof(
  fc
    .integer({ min: 302, max: 4e9 })
    .map((seconds) => ({ kind: 'late' as const, seconds: -seconds })),
  fc.integer({ min: 302, max: 4e9 }).map((seconds) => ({ kind: 'late' as const, seconds })),
  fc.constantFrom(
    { kind: 'secret' as const },
    { kind: 'unknown' as const },
    { kind: 'other_body' as const },
    { kind: 'two_identities' as const },
  ),
  fc.record({
    kind: fc.constant('header' as const),
    name: fc.constantFrom('X-SVC-Tenant', 'X-SVC-Timestamp', 'X-SVC-Signature'),
    value: fc.stringMatching(/^[ -~]{0,80}$/),
  }),
);

const elsewhere = (plan: Plan, [method = 'POST', target = '']: readonly string[]): Plan => ({
  ...plan,
  method,
  target,
});
const noise = fc.uint8Array({ minLength: 1, maxLength: 300 });
const httpText = 'POST /v1/quotes HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nX-A: b\r\n\r\n{}';

const byStage: Readonly<Record<Stage, fc.Arbitrary<Plan>>> = {
  unparsable: fc
    .oneof(
      noise,
      edits.map((changes) => Buffer.from(edited(httpText, changes))),
    )
    .map((body) => ({ stage: 'unparsable', method: 'RAW', target: '', body, signer: 'nobody' })),
  route: fc
    .record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
      target: paths,
    })
    .map((wire) => ({ stage: 'route', ...wire, signer: 'nobody' })),
  size: fc
    .tuple(signedRoutes, fc.integer({ min: 262_145, max: 300_000 }))
    .map(([route, size]) => elsewhere(post('size', ' '.repeat(size)), route)),
  signature: fc
    .record({ spoiled: spoilings, route: signedRoutes, key: keys })
    .map(({ spoiled, route, key }) => ({
      ...elsewhere(post('signature', valid(key)), route),
      spoiled,
    })),
  query: fc
    .tuple(signedRoutes, fc.stringMatching(/^[a-z]{1,8}$/), fc.webQueryParameters())
    .map(([[method = '', path = ''], name, rest]) =>
      elsewhere(post('query', '{}'), [method, `${path}?x${name}=1&${rest}`]),
    ),
  media_type: fc
    .tuple(fc.stringMatching(/^[a-z]{1,9}\/[a-z+.-]{1,20}$/), keys)
    .map(([type, key]) => ({
      ...post('media_type', valid(key)),
      headers: { 'content-type': type },
    })),
  json: fc.oneof(
    fc.tuple(keys, edits).map(([key, changes]) => post('json', edited(valid(key), changes))),
    noise.map((bytes) => post('json', bytes)),
    fc
      .tuple(keys, fc.constantFrom('\\u0000', '\\ud800'))
      .map(([key, text]) => post('json', valid(key).replace('Ana', text))),
  ),
  key: fc
    .oneof(
      anything.filter((text) => !text.startsWith('"')),
      fc.constantFrom('""', `"${'k'.repeat(129)}"`),
    )
    .map((value) => post('key', withMember('k', ['idempotencyKey'], value))),
  lookup: fc
    .tuple(fc.integer({ min: 0, max: 9 }), fc.boolean())
    .map(([number, isSame]) =>
      post('lookup', valid(`used-${number}`, isSame ? {} : { extra: number })),
    ),
  envelope: fc
    .tuple(keys, fc.constantFrom('jobType', 'tier', 'payload', 'extra', '__proto__'), anything)
    .map(([key, name, value]) =>
      post(
        'envelope',
        `${valid(key).slice(0, -1)},"wrong":1,${JSON.stringify(`${name}x`)}:${value}}`,
      ),
    ),
  job_type: fc
    .tuple(keys, safeText)
    .map(([key, text]) =>
      post('job_type', valid(key, { jobType: `x${text.toWellFormed().replaceAll('\0', '')}` })),
    ),
  allowlist: keys.map((key) => post('allowlist', valid(key), 'barred')),
  tier: fc
    .tuple(keys, safeText)
    .map(([key, text]) =>
      post('tier', valid(key, { tier: `x${text.toWellFormed().replaceAll('\0', '')}` })),
    ),
  payload: fc
    .tuple(
      keys,
      fc.constantFrom(
        ['applicationUrl'],
        ['atsType'],
        ['applicantProfile'],
        ['jobContext'],
        ['jobContext', 'title'],
      ),
      anything.filter((text) => !text.startsWith('{')),
    )
    .map(([key, path, value]) =>
      post('payload', withMember(key, ['payload', ...path], path[0] === 'atsType' ? '[]' : value)),
    ),
  quote: keys.map((key) => post('quote', valid(key, { tier: 'instant' }), 'unpriced')),
  hold: keys.map((key) => post('hold', valid(key), 'poor')),
  dispatch: keys.map((key) => {
    const { payload } = job(key);
    const declined = { ...payload, applicationUrl: 'https://declined.example.com/' };
    return post('dispatch', valid(key, { payload: declined }));
  }),
  created: fc
    .tuple(fc.uuid(), fc.constantFrom('standard', 'priority', 'instant'))
    .map(([key, tier]) => post('created', valid(key, { tier }))),
  // No generated `webhookUrl` contains `:/`. This prevents webhooks to third parties.
  settings: fc
    .oneof(
      fc
        .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
        .map((threshold) => JSON.stringify({ lowBalanceThreshold: threshold })),
      anything.map((value) => `{"lowBalanceThreshold":${value}}`),
      anything.filter((value) => !value.includes(':/')).map((value) => `{"webhookUrl":${value}}`),
      anything,
    )
    .map((body) => elsewhere(post('settings', body), ['PATCH', '/v1/settings'])),
  reads: fc
    .oneof(idTargets, lists, plainReads)
    .map((wire) => ({ stage: 'reads', ...wire, signer: 'rich' })),
};

export const plans: fc.Arbitrary<Plan> = fc.oneof(
  ...Object.entries(stageShares).map(([stage, weight]) => {
    const arbitrary = Object.entries(byStage).find(([name]) => name === stage)?.[1];
    if (arbitrary === undefined) throw new Error(`there is no generator for the stage ${stage}`);
    return { weight, arbitrary };
  }),
);
