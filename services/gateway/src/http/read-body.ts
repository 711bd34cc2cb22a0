import type { IncomingMessage } from 'node:http';
import { bodyBytesPerSecondMin, bodySlowMsMax } from '@svc/domain';

export type BodyReading =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /** The body came slower than `bodyBytesPerSecondMin` for `bodySlowMsMax`. */
  | { readonly kind: 'too_slow' }
  /**
   * The connection closed before the end of the body: the client disconnected, sent malformed HTTP
   * or was too slow. The caller must send no answer.
   */
  | { readonly kind: 'aborted' };

const drainedBytesMax = 4 * 1024 * 1024;
const drainedMsMax = 2_000;
const paceCheckMs = 500;
const bytesPerCheck = (bodyBytesPerSecondMin * paceCheckMs) / 1000;
const aheadBytesMax = (bodyBytesPerSecondMin * bodySlowMsMax) / 1000;
const firstChunkedBytes = 16 * 1024;

export function declaresTooLarge(request: IncomingMessage, bytesMax: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > bytesMax;
}

/** The bytes that the body of a request can take: what it declares, or else `bytesMax`. */
export function neededBytes({ headers }: IncomingMessage, bytesMax: number): number {
  if (headers['transfer-encoding'] !== undefined) return bytesMax;
  return Number(headers['content-length'] ?? 0);
}

const empty = Buffer.alloc(0);

export function readBody(request: IncomingMessage, bytesMax: number): Promise<BodyReading> {
  if (declaresTooLarge(request, bytesMax)) return Promise.resolve({ kind: 'too_large' });
  const needed = neededBytes(request, bytesMax);
  return new Promise((resolve) => {
    const body = createBody(needed, bytesMax);
    let aheadBytes = aheadBytesMax;
    const pace = setInterval(() => {
      aheadBytes -= bytesPerCheck;
      if (aheadBytes < 0) settle({ kind: 'too_slow' });
    }, paceCheckMs);
    const settle = (reading: BodyReading): void => {
      clearInterval(pace);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      resolve(reading);
    };
    const onData = (chunk: Buffer): void => {
      aheadBytes = Math.min(aheadBytes + chunk.length, aheadBytesMax);
      if (!body.add(chunk)) settle({ kind: 'too_large' });
    };
    const onEnd = (): void => settle({ kind: 'read', bytes: body.bytes() });
    const onClose = (): void => settle({ kind: 'aborted' });
    request.on('data', onData).on('end', onEnd).on('close', onClose);
    // The error of an aborted request is ignored, because `close` follows the error and ends the
    // reading.
    request.on('error', () => {});
  });
}

interface Body {
  /** False if the body would get longer than `bytesMax`. */
  add(chunk: Buffer): boolean;
  bytes(): Buffer;
}

/**
 * Collects the bytes of a body. They are copied into one buffer as they come, because a body in
 * many small chunks would otherwise take many times its size.
 */
function createBody(needed: number, bytesMax: number): Body {
  let buffer: Buffer = empty;
  let length = 0;
  return {
    add(chunk) {
      const until = length + chunk.length;
      if (until > bytesMax) return false;
      if (length === 0 && until >= needed) {
        // Most bodies come as one chunk.
        buffer = chunk;
      } else {
        if (until > buffer.length) buffer = grown(buffer, until, needed, bytesMax);
        chunk.copy(buffer, length);
      }
      length = until;
      return true;
    },
    bytes: () => buffer.subarray(0, length),
  };
}

function grown(buffer: Buffer, until: number, needed: number, bytesMax: number): Buffer {
  const declared = needed < bytesMax ? needed : firstChunkedBytes;
  const size = Math.min(Math.max(until, declared, 2 * buffer.length), bytesMax);
  const larger = Buffer.allocUnsafe(size);
  buffer.copy(larger);
  return larger;
}

/**
 * Reads and discards the rest of a body, within limits. Otherwise a client that is still sending
 * would get a connection reset and might miss the answer.
 */
export function drainBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let length = 0;
    const settle = (): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', settle).off('close', settle);
      resolve();
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > drainedBytesMax) settle();
    };
    const timer = setTimeout(settle, drainedMsMax);
    request.on('data', onData).on('end', settle).on('close', settle);
    request.resume();
  });
}
