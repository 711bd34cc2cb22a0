import type { LookupAddress, LookupOptions } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ResolveAll, resolveAllBySystem } from './resolve-names.ts';

/**
 * The connection was refused, because its address is not allowed. Tenants must not reach internal
 * addresses through the service.
 */
export class DestinationRefused extends Error {
  override readonly name = 'DestinationRefused';
  readonly code = 'DESTINATION_REFUSED';
  constructor() {
    super('the destination is not a public address that the service may contact');
  }
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

export type IsAllowed = (ip: string) => boolean;

function guardedLookup(resolveAll: ResolveAll, isAllowed: IsAllowed) {
  return (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    resolveAll(hostname, options, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const allowed = addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined) return callback(new DestinationRefused(), []);
      if (options.all === true) return callback(null, allowed);
      return callback(null, first.address, first.family);
    });
  };
}

interface ConnectionOptions {
  readonly host?: string | null | undefined;
  readonly socketPath?: string | null | undefined;
}

/**
 * True for a forbidden IP address in the URL, and for a Unix socket. Node does not call `lookup`
 * for them, so `guardedLookup` cannot refuse them.
 */
function isRefusedLiteral(options: ConnectionOptions, isAllowed: IsAllowed): boolean {
  if (options.socketPath !== undefined && options.socketPath !== null) return true;
  const host = (options.host ?? '').replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && !isAllowed(host);
}

/** The final check: destroys a socket that has connected to a forbidden or unknown address. */
function refuseOnConnect(socket: Duplex | null | undefined, isAllowed: IsAllowed): void {
  if (socket === null || socket === undefined) return;
  socket.once('connect', function (this: Socket) {
    const address = this.remoteAddress;
    if (address === undefined || !isAllowed(address)) this.destroy(new DestinationRefused());
  });
}

/**
 * Passes the error to `callback` and does not throw. The agent may open the connection later, for a
 * request that waited. An error thrown at that time would crash the process.
 */
function refuse(callback: ((error: Error | null, socket: Duplex) => void) | undefined): undefined {
  callback?.(new DestinationRefused(), new Socket());
}

/**
 * Limits only the idle connections of an agent. With Node's `maxTotalSockets`, idle connections to
 * some hosts would delay requests to other hosts.
 */
class IdleSockets {
  readonly #max: number;
  readonly #idle = new Set<Duplex>();
  readonly #known = new WeakSet<Duplex>();

  constructor(max: number) {
    this.#max = max;
  }

  hasRoomFor(socket: Duplex): boolean {
    if (this.#idle.size >= this.#max) return false;
    this.#idle.add(socket);
    if (!this.#known.has(socket)) socket.once('close', () => this.#idle.delete(socket));
    this.#known.add(socket);
    return true;
  }

  isUsed(socket: Duplex): void {
    this.#idle.delete(socket);
  }
}

interface GuardedOptions extends Omit<http.AgentOptions, 'maxTotalSockets'> {
  /**
   * The maximum number of idle connections of one agent to all hosts. Default:
   * `idleSocketsMaxDefault`.
   */
  readonly idleSocketsMax?: number;
}

const idleSocketsMaxDefault = 512;

function guard<A extends http.Agent>(agent: A, isAllowed: IsAllowed, idle: IdleSockets): A {
  const guarded: http.Agent = agent;
  const createConnection = guarded.createConnection.bind(guarded);
  const reuseSocket = guarded.reuseSocket.bind(guarded);
  // Node's `keepSocketAlive` returns true if the socket can be kept, although its type says void.
  const keepSocketAlive: (socket: Duplex) => unknown = guarded.keepSocketAlive.bind(guarded);
  guarded.createConnection = (options, callback) => {
    if (isRefusedLiteral(options, isAllowed)) return refuse(callback);
    const socket = createConnection(options, callback);
    refuseOnConnect(socket, isAllowed);
    return socket;
  };
  guarded.keepSocketAlive = (socket) => keepSocketAlive(socket) === true && idle.hasRoomFor(socket);
  guarded.reuseSocket = (socket, request) => {
    idle.isUsed(socket);
    reuseSocket(socket, request);
  };
  return agent;
}

export interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

/** Creates agents that connect only to allowed addresses (CONTRACT 6). */
export function createAgents({
  isAllowed,
  keepAlive,
  resolveAll = resolveAllBySystem,
}: {
  readonly isAllowed: IsAllowed;
  readonly keepAlive: GuardedOptions;
  readonly resolveAll?: ResolveAll;
}): Agents {
  const { idleSocketsMax = idleSocketsMaxDefault, ...kept } = keepAlive;
  const options = { ...kept, lookup: guardedLookup(resolveAll, isAllowed) };
  return {
    http: guard(new http.Agent(options), isAllowed, new IdleSockets(idleSocketsMax)),
    https: guard(new https.Agent(options), isAllowed, new IdleSockets(idleSocketsMax)),
  };
}
