import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  nodeLinkPath,
  nodeLinkSubprotocol,
  parseFrameToNode,
  type FrameFromNode,
  type FrameToNode,
} from '@svc/contracts';
import { frameToNodeBytesMax, linkSilentMs } from '@svc/domain';
import { signRequest } from '@svc/signing';
import { WebSocket, type RawData } from 'ws';
import type { LinkEnd } from './backoff.ts';
import type { LookUp } from './executors/browser/egress/look-up.ts';
import { connectingBy, lookUpBySystem } from './link-look-up.ts';
import { explainRefusal, refusalBytesMax } from './link-refusal.ts';
import type { Log } from './log.ts';

export interface NodeIdentity {
  /**
   * The URL of the service (`ws://` or `wss://`). The agent replaces the path of this URL with
   * `/node/v1`, and the query with a nonce.
   */
  readonly link: string;
  readonly nodeId: string;
  readonly secret: string;
  /** The default is `lookUpBySystem`. */
  readonly lookUp?: LookUp;
}

export interface NodeSocket {
  /** Does nothing unless the connection is open. */
  send(frame: FrameFromNode): void;
  close(): void;
  terminate(): void;
}

export interface SocketEvents {
  opened(socket: NodeSocket): void;
  /** Called with each valid frame and its original text. */
  received(frame: FrameToNode, text: string): void;
  /** Called exactly once, when the link has ended or could not be opened. */
  ended(end: LinkEnd): void;
}

const connectTimeoutMs = 10_000;
const brokenCode = 1006;

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return (data instanceof ArrayBuffer ? Buffer.from(data) : data).toString('utf8');
}

function connect({ link, nodeId, secret, lookUp = lookUpBySystem }: NodeIdentity): WebSocket {
  const url = new URL(nodeLinkPath, link);
  // The service accepts a signature once. Without the nonce, two connections that the agent tries
  // in the same second would have the same signature.
  url.searchParams.set('nonce', randomUUID());
  const timestamp = Math.floor(Date.now() / 1000);
  const target = url.pathname + url.search;
  return new WebSocket(url, [nodeLinkSubprotocol], {
    headers: {
      'x-svc-node': nodeId,
      'x-svc-timestamp': String(timestamp),
      'x-svc-signature': signRequest({ secret, timestamp, method: 'GET', target, body: '' }),
    },
    lookup: connectingBy(lookUp),
    handshakeTimeout: connectTimeoutMs,
    maxPayload: frameToNodeBytesMax,
    perMessageDeflate: false,
  });
}

async function startOf(response: IncomingMessage): Promise<string> {
  let body = '';
  response.setTimeout(connectTimeoutMs, () => response.destroy());
  try {
    for await (const chunk of response) {
      body += String(chunk);
      if (body.length > refusalBytesMax) break;
    }
  } catch {
    // The connection broke, or no data came for `connectTimeoutMs`. The part of the body that
    // arrived may be enough to explain why the service refused the link.
  }
  return body;
}

/** Connects with a signed upgrade (CONTRACT 7) and reads until the link ends. */
export function openSocket(identity: NodeIdentity, events: SocketEvents, log: Log): NodeSocket {
  const socket = connect(identity);
  let refusedStatus: number | undefined;
  let silenceTimer: NodeJS.Timeout | undefined;
  const noteReceived = (): void => {
    clearTimeout(silenceTimer);
    // The service pings every 5 s. A link without a frame or ping for `linkSilentMs` is dead.
    silenceTimer = setTimeout(() => socket.terminate(), linkSilentMs);
  };
  const handle: NodeSocket = {
    send(frame) {
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame));
    },
    close: () => socket.close(1000),
    terminate: () => socket.terminate(),
  };
  socket.on('open', () => {
    noteReceived();
    events.opened(handle);
  });
  socket.on('ping', noteReceived);
  socket.on('message', (data) => {
    noteReceived();
    const text = textOf(data);
    const parsed = parseFrameToNode(text);
    if (parsed.kind === 'frame') events.received(parsed.frame, text);
    else log('warn', 'ignored a bad frame from the service', { code: parsed.code });
  });
  socket.on('unexpected-response', (_request, response) => {
    const status = response.statusCode ?? 0;
    refusedStatus = status;
    const explain = async (): Promise<void> => {
      const sentence = explainRefusal({ status, body: await startOf(response) });
      log('error', sentence, { event: 'node.link_refused', status });
      socket.terminate();
    };
    void explain();
  });
  socket.on('error', (error) =>
    log('warn', 'the link broke or never opened', { reason: error.message }),
  );
  socket.on('close', (code, reason) => {
    clearTimeout(silenceTimer);
    const said = reason.toString('utf8');
    if (said !== '') log('warn', 'the service closed the link', { code, reason: said });
    const closeCode = code === 0 ? brokenCode : code;
    events.ended(refusedStatus === undefined ? { closeCode } : { closeCode, refusedStatus });
  });
  return handle;
}
