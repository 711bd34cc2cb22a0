import type { IncomingMessage } from 'node:http';

export type BodyReading =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /**
   * The connection closed before the end of the body: the client disconnected, sent malformed HTTP
   * or was too slow. The caller must send no answer.
   */
  | { readonly kind: 'aborted' };

const drainedBytesMax = 4 * 1024 * 1024;
const drainedMsMax = 2_000;

export function declaresTooLarge(request: IncomingMessage, bytesMax: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > bytesMax;
}

export function readBody(request: IncomingMessage, bytesMax: number): Promise<BodyReading> {
  if (declaresTooLarge(request, bytesMax)) return Promise.resolve({ kind: 'too_large' });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (reading: BodyReading): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      resolve(reading);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > bytesMax) settle({ kind: 'too_large' });
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle({ kind: 'read', bytes: Buffer.concat(chunks, length) });
    const onClose = (): void => settle({ kind: 'aborted' });
    request.on('data', onData).on('end', onEnd).on('close', onClose);
    // The error of an aborted request is ignored, because `close` follows the error and ends the
    // reading.
    request.on('error', () => {});
  });
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
