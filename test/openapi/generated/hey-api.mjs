// The client of hey-api: a read, a creation and a refusal.
import assert from 'node:assert/strict';
import process from 'node:process';
import { client } from './hey-api/client.gen.ts';
import { createSubmission, getBalance, getSubmission } from './hey-api/index.ts';
import { baseUrl, sign, submission } from './sign.mjs';

// The type accepts a value that the document does not list.
/** @type {import('./hey-api/index.ts').Submission['status']} */
export const status = 'added_later';

client.setConfig({ baseUrl });
client.interceptors.request.use((request) => sign(request));

const read = await getBalance();
assert.equal(read.response?.status, 200);
assert.equal(read.data?.currency, 'credits');

const body = { ...submission, idempotencyKey: 'hey-api' };
const created = await createSubmission({ body });
assert.equal(created.response?.status, 201);
assert.equal(created.data?.status, 'dispatched');
const id = String(created.data?.submissionId);
const record = await getSubmission({ path: { id } });
assert.equal(record.data?.id, id);

const refused = await createSubmission({ body: { ...body, tier: 'standard ' } });
assert.equal(refused.response?.status, 409);
assert.equal(refused.error?.code, 'idempotency_key_conflict');
process.stdout.write('hey-api: a read, a creation and a refusal\n');
