import http from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';

/**
 * Headers that concern only one connection, so the proxy does not pass them on. They include the
 * headers that RFC 9110, section 7.6.1, names.
 */
const hopHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Returns the headers without the hop-by-hop headers and without those that `Connection` names.
 * Argument and result have the form of `rawHeaders`: `[name, value, …]`.
 */
function endToEndHeaders(raw: readonly string[]): string[] {
  const pairs = Array.from({ length: raw.length / 2 }, (_, at): [string, string] => [
    raw[at * 2] ?? '',
    raw[at * 2 + 1] ?? '',
  ]);
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((one) => one.trim().toLowerCase()));
  const dropped = new Set([...hopHeaders, ...named]);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}

/** `Host` is taken from the URL, not from `incoming`. */
function requestHeaders(incoming: http.IncomingMessage, url: URL): string[] {
  const kept = endToEndHeaders(incoming.rawHeaders);
  const host = kept.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  if (host >= 0) kept.splice(host, 2);
  // A body of unknown length is chunked again on the new connection.
  const framing =
    incoming.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked'];
  return ['Host', url.host, ...kept, ...framing, 'Connection', 'close'];
}

export interface PlainForward {
  readonly incoming: http.IncomingMessage;
  readonly outgoing: http.ServerResponse;
  readonly upstream: Socket;
  readonly url: URL;
  readonly headersBytesMax: number;
}

/**
 * Resolves with true if the whole answer was passed on. Otherwise resolves with false and closes
 * the connection of the browser.
 */
export function forwardPlain(forward: PlainForward): Promise<boolean> {
  const { incoming, outgoing, upstream, url, headersBytesMax } = forward;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let isSettled = false;
  const settle = (isWhole: boolean): void => {
    if (isSettled) return;
    isSettled = true;
    // Closes the connection, so that the browser does not treat a part of an answer as the whole
    // answer.
    if (!isWhole) incoming.socket.destroy();
    upstream.destroy();
    resolve(isWhole);
  };
  outgoing.once('close', () => settle(outgoing.writableFinished));
  try {
    const request = http.request({
      method: incoming.method,
      path: `${url.pathname}${url.search}`,
      headers: requestHeaders(incoming, url),
      maxHeaderSize: headersBytesMax,
      setDefaultHeaders: false,
      createConnection: () => upstream,
    });
    let hasAnswer = false;
    request.on('error', () => settle(false));
    request.on('upgrade', () => settle(false));
    request.on('close', () => hasAnswer || settle(false));
    request.on('response', (response) => {
      hasAnswer = true;
      answer(response, outgoing, settle);
    });
    pipeline(incoming, request, () => {});
  } catch {
    settle(false);
  }
  return promise;
}

function answer(
  response: http.IncomingMessage,
  outgoing: http.ServerResponse,
  settle: (isWhole: boolean) => void,
): void {
  outgoing.sendDate = false;
  try {
    if (response.statusCode === 101) return settle(false);
    const headers = endToEndHeaders(response.rawHeaders);
    outgoing.writeHead(response.statusCode ?? 0, response.statusMessage ?? '', headers);
  } catch {
    // The answer has a status or a header that HTTP does not allow.
    return settle(false);
  }
  pipeline(response, outgoing, (error) => settle(error === null || error === undefined));
}
