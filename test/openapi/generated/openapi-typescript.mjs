// The types of openapi-typescript, with openapi-fetch: a read, a creation and a refusal.
import assert from 'node:assert/strict';
import process from 'node:process';
import createClient from 'openapi-fetch';
import { baseUrl, sign, submission } from './sign.mjs';

/** @typedef {import('./openapi-typescript.ts').paths} paths */
/** @typedef {import('./openapi-typescript.ts').components['schemas']} schemas */
/** @typedef {paths['/v1/submissions/{id}/cancel']['post']['responses'][409]} conflict */

// The types accept values that the document does not list.
/** @type {schemas['Submission']['status']} */
export const status = 'added_later';
/** @type {conflict['content']['application/problem+json']['code']} */
export const code = 'added_later';

/** @type {ReturnType<typeof createClient<paths>>} */
const client = createClient({ baseUrl });
client.use({ onRequest: ({ request }) => sign(request) });

const read = await client.GET('/v1/credits/balance');
assert.equal(read.response.status, 200);
assert.equal(read.data?.currency, 'credits');

const body = { ...submission, idempotencyKey: 'openapi-typescript' };
const created = await client.POST('/v1/submissions', { body });
assert.equal(created.response.status, 201);
assert.equal(created.data?.status, 'dispatched');
const path = { id: String(created.data?.submissionId) };
const record = await client.GET('/v1/submissions/{id}', { params: { path } });
assert.equal(record.data?.id, path.id);

const refused = await client.POST('/v1/submissions', { body: { ...body, tier: 'standard ' } });
assert.equal(refused.response.status, 409);
assert.equal(refused.error?.code, 'idempotency_key_conflict');
process.stdout.write('openapi-typescript: a read, a creation and a refusal\n');
