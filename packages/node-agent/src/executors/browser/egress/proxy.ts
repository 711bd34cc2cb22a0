import http from 'node:http';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import { createAddressRule } from '@svc/domain';
import { createAdmission, type Entry } from './admission.ts';
import {
  type Destination,
  destinationKey,
  type HostMap,
  readAuthority,
  readDestination,
} from './destination.ts';
import { type ByteCounts, createDialer, type Dialed } from './dialer.ts';
import { type FetchedFile, fetchFile, type FileRequest } from './fetch-file.ts';
import { createLookUp, type LookUp } from './look-up.ts';
import { forwardPlain } from './plain-http.ts';
import { joinTunnel } from './tunnel.ts';

/**
 * The guarded egress of one job (CONTRACT 10). All traffic of the pages of the job passes through
 * this proxy.
 */
export interface EgressProxy {
  /** The address of the proxy, `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** The bytes sent to and received from the sites, including those of `fetchFile`. */
  counts(): ByteCounts;
  refusals(): readonly string[];
  /**
   * Fetches a file of the applicant's profile. The address rules for the pages apply to the file,
   * too.
   */
  fetchFile(request: FileRequest): Promise<FetchedFile>;
  /**
   * Closes every connection. Until `release`, admits connections only for this request (see
   * `Seal`). Shuts the proxy if the URL is neither http nor https.
   */
  seal(request: { readonly method: string; readonly url: string }): void;
  /**
   * If the proxy is sealed, ends the seal. Connections that wait because of the seal are then
   * admitted.
   */
  release(): void;
  /** Closes every connection. Until `seal`, refuses each new connection of the browser. */
  shut(): void;
  close(): Promise<void>;
}

const clientsMax = 256;
const heldMax = 64;
/**
 * The most bytes of the headers of a request or an answer. The limit is four times the default of
 * Node.js, so that pages with many cookies work.
 */
const headersBytesMax = 64 * 1024;
const headersTimeoutMs = 30_000;

const established = 'HTTP/1.1 200 Connection Established\r\n\r\n';
const refusedTunnel = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
const failedTunnel = 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

interface Shared {
  readonly dialer: ReturnType<typeof createDialer>;
  readonly admission: ReturnType<typeof createAdmission>;
}

interface Admitted {
  readonly entry: Entry;
  readonly dialed: Dialed;
}

async function admit(
  { dialer, admission }: Shared,
  client: Duplex,
  destination: Destination,
  method: string | undefined,
): Promise<Admitted> {
  const entry = await admission.enter({ key: destinationKey(destination), method });
  if (entry.kind === 'refused') return { entry, dialed: { kind: 'failed' } };
  const dialed: Dialed = client.destroyed ? { kind: 'failed' } : await dialer.dial(destination);
  if (dialed.kind !== 'connected' || !client.destroyed) return { entry, dialed };
  dialed.socket.destroy();
  return { entry, dialed: { kind: 'failed' } };
}

function endSlot(entry: Entry): void {
  if (entry.kind === 'slot') entry.ended();
}

async function openTunnel(
  shared: Shared,
  client: Duplex,
  head: Buffer,
  authority: string,
): Promise<void> {
  const destination = readAuthority(authority);
  if (destination === undefined) return void client.end(refusedTunnel);
  const { entry, dialed } = await admit(shared, client, destination, undefined);
  if (dialed.kind === 'connected') {
    client.write(established);
    await joinTunnel(client, dialed.socket, head);
  } else {
    client.end(dialed.kind === 'refused' ? refusedTunnel : failedTunnel);
  }
  endSlot(entry);
}

async function passRequest(
  shared: Shared,
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
): Promise<void> {
  const client = incoming.socket;
  const target = incoming.url ?? '';
  const destination = target.startsWith('http://') ? readDestination(target) : undefined;
  if (destination === undefined) return void client.destroy();
  const { entry, dialed } = await admit(shared, client, destination, incoming.method);
  if (dialed.kind !== 'connected') {
    // Closes the connection, because an answer of the proxy would look like an answer of the site.
    client.destroy();
    return endSlot(entry);
  }
  const upstream = dialed.socket;
  const url = new URL(target);
  const isWhole = await forwardPlain({ incoming, outgoing, upstream, url, headersBytesMax });
  // After a whole answer, other connections wait until `release`. Otherwise `endSlot` has them
  // refused.
  if (!isWhole) endSlot(entry);
}

function createServer(shared: Shared, clients: Set<Socket>): http.Server {
  const server = http.createServer({
    maxHeaderSize: headersBytesMax,
    headersTimeout: headersTimeoutMs,
    // A request has no time limit here, because an upload may take long. The run limit of the job
    // still applies.
    requestTimeout: 0,
    noDelay: true,
  });
  server.maxConnections = clientsMax;
  server.on('connection', (socket: Socket) => {
    clients.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => clients.delete(socket));
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  server.on('upgrade', (_incoming, socket: Duplex) => socket.destroy());
  server.on('connect', (incoming, socket: Duplex, head: Buffer) => {
    void openTunnel(shared, socket, head, incoming.url ?? '');
  });
  server.on('request', (incoming, outgoing) => void passRequest(shared, incoming, outgoing));
  return server;
}

function listen(server: http.Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('no port'));
      else resolve(address.port);
    });
  });
}

export async function startEgressProxy({
  hostMap,
  observed,
  lookUp = createLookUp(),
}: {
  readonly hostMap: HostMap;
  /** The public addresses of this node, which are refused like those of its interfaces. */
  readonly observed?: () => readonly string[];
  readonly lookUp?: LookUp;
}): Promise<EgressProxy> {
  const isAllowed = createAddressRule({
    interfaces: networkInterfaces,
    monotonicMs: () => performance.now(),
    ...(observed && { observed }),
  });
  const dialer = createDialer({ hostMap, isAllowed, lookUp });
  const admission = createAdmission({ heldMax });
  const clients = new Set<Socket>();
  const server = createServer({ dialer, admission }, clients);
  const port = await listen(server);
  const closeAll = (): void => {
    for (const client of clients) client.destroy();
    dialer.closeConnections();
  };
  const shut = (): void => {
    admission.shut();
    closeAll();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    counts: () => dialer.counts(),
    refusals: () => dialer.refusals(),
    fetchFile: (request) => fetchFile(dialer, request),
    seal({ method, url }) {
      const destination = readDestination(url);
      if (destination === undefined) return shut();
      admission.seal({ key: destinationKey(destination), method });
      closeAll();
    },
    release: () => admission.release(),
    shut,
    async close() {
      shut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
