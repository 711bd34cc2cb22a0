import type { IncomingMessage } from 'node:http';

export type BodyReading =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /** The client went away, or sent what is no HTTP: there is nobody to answer here. */
  | { readonly kind: 'aborted' };

/** What is read and thrown away behind an oversized body, so that its sender sees the answer. */
const drainedBytesMax = 4 * 1024 * 1024;
const drainedMsMax = 2_000;

/** Whether the client declares more than `bytesMax`; then not a byte needs to be read. */
export function declaresTooLarge(request: IncomingMessage, bytesMax: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > bytesMax;
}

/** Reads the raw bytes of a body, `bytesMax` of them at most. */
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
    // Without a listener an aborted request would bring the process down; `close` follows it.
    request.on('error', () => {});
  });
}

/**
 * Throws away what is left of a body, within bounds. A client that is still sending when the
 * connection closes gets a reset, and never reads the answer that it was sent.
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
