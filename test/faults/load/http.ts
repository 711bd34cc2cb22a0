import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { signRequest } from '@svc/signing';
import { type Json, objectOf } from './json.ts';

export interface Signer {
  readonly header: 'X-SVC-Tenant' | 'X-SVC-Operator';
  readonly id: string;
  readonly secret: string;
}

export interface Question {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly target: string;
  readonly body?: string;
  /** Omitted if the request needs no signature. */
  readonly signer?: Signer;
  readonly timeoutMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly code: string | null;
  readonly body: Json;
}

/**
 * True if the request has its final answer. Otherwise a tenant may send the request again. A 408 is
 * not final, because only a part of the request has arrived.
 */
export function isDecisive(answer: Answer | undefined): answer is Answer {
  return (
    answer !== undefined &&
    answer.code !== 'unavailable' &&
    answer.status !== 408 &&
    answer.status !== 429
  );
}

/**
 * The default of `timeoutMs` must exceed `dispatchDeadlineMs + dispatchGraceMs` (6 s), because the
 * gateway may take that long to answer a creation.
 */
const timeoutMsDefault = 12_000;

export interface Http {
  /**
   * Resolves with undefined if no complete answer in JSON came in time. The result of the request
   * is then unknown.
   */
  ask(baseUrl: string, question: Question): Promise<Answer | undefined>;
  close(): void;
}

/**
 * Keeps connections open, so a fault can cut them. Their number has no limit, because with a limit
 * a request could time out while it waits for a connection.
 */
export function createHttp(): Http {
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo' });
  return {
    async ask(baseUrl, question) {
      try {
        return await send(agent, baseUrl, question);
      } catch {
        return undefined;
      }
    },
    close: () => agent.destroy(),
  };
}

async function send(agent: Agent, baseUrl: string, question: Question): Promise<Answer> {
  const { method, target, body, timeoutMs = timeoutMsDefault } = question;
  const url = new URL(baseUrl);
  const request = httpRequest({
    host: url.hostname,
    port: url.port,
    method,
    path: target,
    agent,
    signal: AbortSignal.timeout(timeoutMs),
    headers: headersOf(question),
  });
  request.end(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  if (!response.complete) throw new Error('the answer was cut off');
  const parsed = objectOf(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  const { code } = parsed;
  return {
    status: response.statusCode ?? 0,
    code: typeof code === 'string' ? code : null,
    body: parsed,
  };
}

function headersOf({ method, target, body = '', signer }: Question): Record<string, string> {
  const plain = {
    'content-length': `${Buffer.byteLength(body)}`,
    ...(body === '' ? {} : { 'content-type': 'application/json' }),
  };
  if (signer === undefined) return plain;
  const { header, id, secret } = signer;
  const timestamp = Math.floor(Date.now() / 1000);
  return {
    ...plain,
    [header]: id,
    'X-SVC-Timestamp': `${timestamp}`,
    'X-SVC-Signature': signRequest({ secret, timestamp, method, target, body }),
  };
}
