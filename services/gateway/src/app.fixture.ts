import { once } from 'node:events';
import { connect } from 'node:net';
import { compileSchema, NoQuery, Problem } from '@svc/contracts';
import { toWireId, unauthenticatedBodyBytesDefault } from '@svc/domain';
import {
  createFailureLimit,
  createLogger,
  newId,
  noTrustedProxies,
  systemClock,
} from '@svc/runtime';
import type { OperatorCredentials, TenantCredentials } from '@svc/store';
import { type RawResponse, sendSigned, type SignedRequest } from '@svc/testkit';
import { Type } from 'typebox';
import { expect } from 'vitest';
import type { Keys } from './access/authenticate.ts';
import { type AppOptions, createApp } from './app.ts';
import { json } from './http/answer.ts';
import { createBodyBudget } from './http/body-budget.ts';
import { type Endpoint, operatorEndpoint, tenantEndpoint } from './http/endpoint.ts';
import { type HttpServer, type HttpServerOptions, startHttpServer } from './http/http-server.ts';
import { createRequestLines } from './http/request-lines.ts';

const tenantUuid = newId();
export const tenantId = toWireId('tnt', tenantUuid);
export const secret = 'hsk_test_secret';
const credentials: TenantCredentials = {
  tenantId: tenantUuid,
  disabled: false,
  allowedJobTypes: [],
  hmacSecrets: [secret],
  keyIds: [newId()],
  tamperedKeyIds: [],
  scopes: ['read', 'spend', 'settings'],
  addresses: [],
  hasExpiringSecret: false,
  rateLimitPerSecond: 4,
  rateLimitBurst: 10,
  rateCardVersion: 1,
  accountEpoch: 0n,
};

export const control = {
  /** False if the next requests of the tenant exceed its rate limit. */
  allowed: true,
  release: (): void => {},
};

const endpoints: Endpoint[] = [
  tenantEndpoint({
    method: 'post',
    path: '/v1/things',
    query: Type.Object({ known: Type.Optional(Type.String()) }, { additionalProperties: false }),
    handle: async ({ body }) => await Promise.resolve(json(201, { bytes: body.length })),
  }),
  tenantEndpoint({
    method: 'patch',
    path: '/v1/things',
    query: NoQuery,
    handle: async () => await Promise.resolve(json(200, {})),
  }),
  operatorEndpoint({
    method: 'post',
    path: '/v1/operations',
    query: NoQuery,
    handle: async ({ operator }) => await Promise.resolve(json(200, { id: operator.operatorId })),
  }),
  tenantEndpoint({
    method: 'get',
    path: '/v1/things/:id',
    query: NoQuery,
    async handle({ id }) {
      if (id === 'broken') throw new Error('secret internals');
      if (id === 'no-database') throw new Error('connect ECONNREFUSED 127.0.0.1:5432');
      return json(200, { id });
    },
  }),
  {
    access: 'open',
    method: 'get',
    path: '/slow',
    async handle() {
      await new Promise<void>((resolve) => (control.release = resolve));
      return json(200, { slow: true });
    },
  },
  {
    access: 'open',
    method: 'get',
    path: '/open',
    handle: async () => await Promise.resolve(json(200, { open: true })),
  },
];

const logger = createLogger({ service: 'gateway', level: 'silent' });
const validateProblem = compileSchema(Problem);
export const operatorUuid = newId();
const operator: OperatorCredentials = {
  operatorId: operatorUuid,
  disabled: false,
  secret: 'osk_1',
};
const keys: Keys = {
  tenant: async (asked) =>
    await Promise.resolve(
      asked.tenantId === tenantUuid && asked.keyId === null
        ? { credentials, allows: () => true, isRecent: true }
        : null,
    ),
  operator: async (id) => await Promise.resolve(id === operatorUuid ? operator : null),
};

const keyUses = {
  used: () => {},
  flush: async () => await Promise.resolve(),
  close: async () => await Promise.resolve(),
};

const limiter = {
  giveBack: async () => await Promise.resolve(),
  take: async () =>
    await Promise.resolve({
      allowed: control.allowed,
      left: 7,
      fullInMs: 1_200,
      retryInMs: control.allowed ? 0 : 2_001,
    }),
};
export const observed: string[] = [];

const requestLines = createRequestLines({ perSecondMax: 1_000, clock: systemClock, logger });

export async function startApp(
  options: Partial<AppOptions> & Pick<HttpServerOptions, 'timeouts' | 'connections'> = {},
): Promise<HttpServer> {
  const { timeouts, connections } = options;
  const listener = createApp({
    endpoints,
    keys,
    keyUses,
    limiter,
    failures: createFailureLimit({ clock: systemClock }),
    bodyBudget: createBodyBudget(unauthenticatedBodyBytesDefault),
    proxies: noTrustedProxies,
    begun() {},
    observe: ({ route, status }) => observed.push(`${route} ${status}`),
    newId,
    clock: systemClock,
    logger,
    requestLines,
    ...options,
  });
  const limits = { ...(timeouts && { timeouts }), ...(connections && { connections }) };
  const serving = { listener, newId, logger, requestLines, ...limits };
  return startHttpServer({ host: '127.0.0.1', port: 0, ...serving });
}

export const sendTo = (
  server: HttpServer,
  request: Partial<SignedRequest> & { target: string },
): Promise<RawResponse> =>
  sendSigned({
    baseUrl: `http://127.0.0.1:${server.port}`,
    method: 'GET',
    tenantId,
    secret,
    ...request,
  });

export async function sendBytesTo(
  { port }: HttpServer,
  ...chunks: (string | Buffer)[]
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => {});
  await once(socket, 'connect');
  for (const chunk of chunks) socket.write(chunk);
  await once(socket, 'close');
  return Buffer.concat(received).toString('utf8');
}

export function codeOf(response: RawResponse): string {
  const validation = validateProblem(response.json());
  if (validation.kind === 'invalid') throw new Error(JSON.stringify(validation.errors));
  const { code, status, requestId } = validation.value;
  expect(response.headers['content-type']).toBe('application/problem+json');
  expect([status, requestId]).toEqual([response.status, response.headers['x-request-id']]);
  return code;
}

export function rawCodeOf(text: string): string {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const headers = head.split('\r\n').map((line) => line.split(': '));
  return codeOf({
    status: Number(head.split(' ')[1]),
    headers: Object.fromEntries(
      headers.map(([name = '', value = '']) => [name.toLowerCase(), value]),
    ),
    text: body,
    json: () => JSON.parse(body),
  });
}
