import { isRecord } from '@svc/domain';
import type { OutboundHttp } from '@svc/runtime';
import type { CallBudget } from './call-budget.ts';

export type RpcOutcome =
  /** Numbers above 2^53 in `result` are not exact, so amounts must be read from strings. */
  | { readonly kind: 'answered'; readonly result: unknown }
  /**
   * The server asks for fewer calls, is unhealthy or is behind the chain. `retryAfterMs` is 0 if
   * the server names no number of seconds, and otherwise at most `retryAfterMsMax`.
   */
  | { readonly kind: 'busy'; readonly reason: string; readonly retryAfterMs: number }
  /** No usable answer: for example a network error, a timeout, or text that is not JSON-RPC. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** A JSON-RPC error that does not mean `busy`. `code` is 0 if the server sent no number. */
  | { readonly kind: 'refused'; readonly code: number; readonly reason: string };

export interface Rpc {
  call(method: string, params: readonly unknown[]): Promise<RpcOutcome>;
}

/**
 * An answer of this many bytes or more is `failed`, unless its status is 429. For comparison, a
 * page of 1,000 signatures has about 300 KB.
 */
export const rpcAnswerBytesMax = 4 * 1024 * 1024;
export const rpcAnswerDepthMax = 64;
export const rpcTimeoutMs = 8_000;
const retryAfterMsMax = 60_000;
const reasonLengthMax = 200;

/**
 * JSON-RPC error codes of a server that is unhealthy or behind the chain. Those of a missing block
 * (-32004, -32014) concern one transaction only.
 */
const laggingCodes = new Set([-32_005, -32_016]);

/**
 * Makes a JSON-RPC client for an untrusted server. The client limits the time, the size and the
 * depth of every answer, and does not retry.
 */
export function createRpc(options: {
  readonly url: string;
  readonly http: OutboundHttp;
  readonly budget: CallBudget;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}): Rpc {
  let calls = 0;
  return {
    async call(method, params) {
      calls += 1;
      const id = String(calls);
      const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      await options.budget.take();
      const outcome = await options.http.post({
        url: options.url,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: Buffer.from(text),
        timeoutMs: options.timeoutMs ?? rpcTimeoutMs,
        bytesMax: rpcAnswerBytesMax,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      if (outcome.kind !== 'responded') return { kind: 'failed', reason: outcome.reason };
      const { statusCode, headers, body } = outcome;
      if (statusCode === 429) return busy('the server answered 429', headers['retry-after']);
      if (body.byteLength >= rpcAnswerBytesMax) return failed('the answer is too large');
      const answer = parseBounded(Buffer.from(body).toString('utf8'));
      // A server may send a JSON-RPC error with any HTTP status, and without the id of the call.
      if (!isRecord(answer) || (String(answer['id']) !== id && answer['error'] === undefined)) {
        return failed(
          `the server answered HTTP ${statusCode} without a JSON-RPC answer to this call`,
        );
      }
      if (isRecord(answer['error'])) return outcomeOfError(answer['error']);
      if (statusCode !== 200) return failed(`the server answered HTTP ${statusCode}`);
      if (!('result' in answer)) return failed('the answer has neither a result nor a valid error');
      return { kind: 'answered', result: answer['result'] };
    },
  };
}

function failed(reason: string): RpcOutcome {
  return { kind: 'failed', reason };
}

function busy(reason: string, retryAfter: string | undefined): RpcOutcome {
  const seconds = Number(retryAfter);
  const retryAfterMs = Number.isFinite(seconds) ? Math.max(seconds, 0) * 1000 : 0;
  return { kind: 'busy', reason, retryAfterMs: Math.min(retryAfterMs, retryAfterMsMax) };
}

function outcomeOfError(error: Record<string, unknown>): RpcOutcome {
  const { code, message } = error;
  const reason = `error ${String(code)}: ${printable(message)}`;
  if (code === 429 || (typeof code === 'number' && laggingCodes.has(code))) {
    return { kind: 'busy', reason, retryAfterMs: 0 };
  }
  return { kind: 'refused', code: typeof code === 'number' ? code : 0, reason };
}

/**
 * Makes `text`, which the server sent, safe to store and show. Returns `no message` if `text` is
 * not a string.
 */
function printable(text: unknown): string {
  if (typeof text !== 'string') return 'no message';
  return text
    .slice(0, reasonLengthMax)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\uFFFD');
}

/**
 * Parses JSON. Returns undefined if the text is not JSON, or nests more than `rpcAnswerDepthMax`
 * levels deep.
 */
export function parseBounded(text: string): unknown {
  if (!isWithinDepth(text, rpcAnswerDepthMax)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isWithinDepth(text: string, depthMax: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > depthMax) return false;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return true;
}
