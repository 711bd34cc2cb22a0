import { createServer, type IncomingMessage } from 'node:http';
import { fromWireId, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { sha256Hex, verifyRequest } from '@svc/signing';
import { QueueEvents } from 'bullmq';
import express, { type Request, type Response } from 'express';
import { DatabaseError } from 'pg';
import {
  balanceStatement,
  holdStatement,
  keyedStatement,
  one,
  openPool,
  readStatement,
  rejectStatement,
  tenantStatement,
} from './database.ts';
import { openQueue, openRedis, hops, sayReady, setting } from './process.ts';

const quoteMaxMicros = 200_000_000;
const dispatchMs = 5_000;
const micros = 1_000_000;

const pool = openPool(setting('DATABASE_URL'));
const dispatches = openQueue(hops.dispatch);
const finished = new QueueEvents(hops.dispatch.name, { connection: openRedis() });
await finished.waitUntilReady();
const rawBodies = new WeakMap<IncomingMessage, Buffer>();

interface Tenant {
  readonly id: string;
  readonly hmac_secret: string;
}

/**
 * A cache of tenants. A baseline that read the tenant for every request would be too easy to beat.
 */
const tenants = new Map<string, Tenant>();

async function authenticate(request: Request): Promise<Tenant | undefined> {
  const id = fromWireId('tnt', request.get('x-svc-tenant') ?? '');
  if (id === undefined) return undefined;
  const tenant = tenants.get(id) ?? (await one<Tenant>(pool, tenantStatement, [id]));
  if (tenant !== undefined) tenants.set(id, tenant);
  const { kind } = verifyRequest({
    secrets: tenant === undefined ? [] : [tenant.hmac_secret],
    timestamp: request.get('x-svc-timestamp'),
    signature: request.get('x-svc-signature'),
    method: request.method,
    target: request.originalUrl,
    bodySha256: sha256Hex(rawBodies.get(request) ?? ''),
    nowSeconds: Date.now() / 1_000,
  });
  return kind === 'verified' ? tenant : undefined;
}

interface Body {
  readonly idempotencyKey: string;
  readonly jobType: string;
  readonly payload: { readonly applicationUrl: string };
}

function isBody(body: unknown): body is Body {
  if (typeof body !== 'object' || body === null) return false;
  if (!('idempotencyKey' in body) || typeof body.idempotencyKey !== 'string') return false;
  if (!('jobType' in body) || body.jobType !== 'ats.application') return false;
  if (!('payload' in body) || typeof body.payload !== 'object' || body.payload === null)
    return false;
  const { payload } = body;
  if (!('applicationUrl' in payload) || typeof payload.applicationUrl !== 'string') return false;
  return (
    URL.canParse(payload.applicationUrl) &&
    'atsType' in payload &&
    'applicantProfile' in payload &&
    'jobContext' in payload
  );
}

interface Keyed {
  readonly id: string;
  readonly request_hash: string;
  readonly quote_max: string;
  readonly available_after: string;
}

const answerOf = (id: string, quoteMax: number, availableAfter: number) => ({
  submissionId: toWireId('sub', id),
  status: 'dispatched',
  quote: { estimated: 30, max: quoteMax / micros, surge: 1 },
  balance: { after: availableAfter / micros, held: quoteMax / micros },
});

function refuse(response: Response, status: number, code: string, more: object = {}): void {
  response
    .status(status)
    .type('application/problem+json')
    .send(JSON.stringify({ status, code, ...more }));
}

async function create(tenant: Tenant, request: Request, response: Response): Promise<void> {
  const body: unknown = request.body;
  if (!isBody(body)) return refuse(response, 422, 'validation_error');
  const id = newId();
  const hash = sha256Hex(rawBodies.get(request) ?? '');
  const payload = JSON.stringify(body.payload);
  try {
    const held = await one<{ available: string }>(pool, holdStatement, [
      id,
      tenant.id,
      body.idempotencyKey,
      hash,
      payload,
      quoteMaxMicros,
    ]);
    if (held === undefined) {
      const required = quoteMaxMicros / micros;
      return refuse(response, 402, 'insufficient_credits', { required });
    }
    const job = await dispatches.add('dispatch', {
      submissionId: id,
      jobType: body.jobType,
      tier: 'standard',
      targetHost: new URL(body.payload.applicationUrl).hostname,
      requestId: id,
    });
    const dispatched: unknown = await job.waitUntilFinished(finished, dispatchMs).catch(() => null);
    if (dispatched !== true) {
      await pool.query({ ...rejectStatement, values: [id] });
      return refuse(response, 503, 'dispatch_unavailable');
    }
    response.status(201).json(answerOf(id, quoteMaxMicros, Number(held.available)));
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== '23505') throw error;
    const first = await one<Keyed>(pool, keyedStatement, [tenant.id, body.idempotencyKey]);
    if (first === undefined || first.request_hash !== hash)
      return refuse(response, 409, 'idempotency_key_conflict');
    const { quote_max: max, available_after: after } = first;
    response.json({ ...answerOf(first.id, Number(max), Number(after)), idempotent: true });
  }
}

interface ReadRow {
  readonly id: string;
  readonly state: string;
  readonly quote_max: string;
  readonly charged: string | null;
}

/** Between outcome and settlement the wire status is `running`. */
const wireStatus: Record<string, string> = { completed: 'running', unsuccessful: 'running' };

async function read(tenant: Tenant, request: Request, response: Response): Promise<void> {
  const id = fromWireId('sub', String(request.params['id']));
  const row =
    id === undefined ? undefined : await one<ReadRow>(pool, readStatement, [id, tenant.id]);
  if (row === undefined) return refuse(response, 404, 'not_found');
  const charged = row.charged === null ? null : Number(row.charged);
  response.json({
    id: toWireId('sub', row.id),
    status: wireStatus[row.state] ?? row.state,
    actualCredits: charged === null ? null : charged / micros,
    refundedCredits: charged === null ? null : (Number(row.quote_max) - charged) / micros,
  });
}

async function balance(tenant: Tenant, _request: Request, response: Response): Promise<void> {
  const row = await one<{ balance: string; held: string }>(pool, balanceStatement, [tenant.id]);
  const total = Number(row?.balance ?? 0);
  const held = Number(row?.held ?? 0);
  response.json({
    balance: total / micros,
    held: held / micros,
    available: (total - held) / micros,
  });
}

type Handler = (tenant: Tenant, request: Request, response: Response) => Promise<void>;

const authenticated =
  (handle: Handler) =>
  async (request: Request, response: Response): Promise<void> => {
    const tenant = await authenticate(request);
    if (tenant === undefined) return refuse(response, 401, 'unauthenticated');
    await handle(tenant, request, response);
  };

const app = express();
app.use(
  express.json({
    limit: '256kb',
    verify: (request, _response, bytes) => void rawBodies.set(request, bytes),
  }),
);
app.post('/v1/submissions', authenticated(create));
app.get('/v1/submissions/:id', authenticated(read));
app.get('/v1/credits/balance', authenticated(balance));

const server = createServer(app);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  sayReady({ port: typeof address === 'object' && address !== null ? address.port : 0 });
});
