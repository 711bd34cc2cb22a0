import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The connection would have gone to an address that tenants must not reach through us. */
export class DestinationRefused extends Error {
  override readonly name = 'DestinationRefused';
  readonly code = 'DESTINATION_REFUSED';
  constructor() {
    super('the destination is not a public address');
  }
}

/** How a name is resolved; `dns.lookup` unless a test answers. */
export type ResolveAll = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const resolveAllBySystem: ResolveAll = (hostname, options, callback) => {
  systemLookup(hostname, { ...options, all: true }, callback);
};

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Whether an IP address may be connected to. */
export type IsAllowed = (ip: string) => boolean;

/** A `lookup` for sockets that answers with allowed addresses only: what it says is connected to. */
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

/** An address that is written in the URL is never looked up, so it is checked here. */
function isRefusedLiteral(options: ConnectionOptions, isAllowed: IsAllowed): boolean {
  if (options.socketPath !== undefined && options.socketPath !== null) return true;
  const host = (options.host ?? '').replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && !isAllowed(host);
}

/** The last word: the address that the socket did connect to. */
function refuseOnConnect(socket: Duplex | null | undefined, isAllowed: IsAllowed): void {
  if (socket === null || socket === undefined) return;
  socket.once('connect', function (this: Socket) {
    const address = this.remoteAddress;
    if (address === undefined || !isAllowed(address)) this.destroy(new DestinationRefused());
  });
}

/** By the callback: thrown, it would end the process where the agent connects for a waiting request. */
function refuse(callback: ((error: Error | null, socket: Duplex) => void) | undefined): undefined {
  callback?.(new DestinationRefused(), new Socket());
}

class GuardedHttpAgent extends http.Agent {
  readonly #isAllowed: IsAllowed;

  constructor(options: http.AgentOptions, isAllowed: IsAllowed) {
    super(options);
    this.#isAllowed = isAllowed;
  }

  override createConnection(
    ...[options, callback]: Parameters<http.Agent['createConnection']>
  ): ReturnType<http.Agent['createConnection']> {
    if (isRefusedLiteral(options, this.#isAllowed)) return refuse(callback);
    const socket = super.createConnection(options, callback);
    refuseOnConnect(socket, this.#isAllowed);
    return socket;
  }
}

class GuardedHttpsAgent extends https.Agent {
  readonly #isAllowed: IsAllowed;

  constructor(options: https.AgentOptions, isAllowed: IsAllowed) {
    super(options);
    this.#isAllowed = isAllowed;
  }

  override createConnection(
    ...[options, callback]: Parameters<https.Agent['createConnection']>
  ): ReturnType<https.Agent['createConnection']> {
    if (isRefusedLiteral(options, this.#isAllowed)) return refuse(callback);
    const socket = super.createConnection(options, callback);
    refuseOnConnect(socket, this.#isAllowed);
    return socket;
  }
}

export interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

/**
 * Agents whose every connection goes to an allowed address, whatever a name resolves to and however
 * an address is written (CONTRACT section 6). A connection that was allowed once is only ever used
 * again for the same host and port.
 */
export function createAgents({
  isAllowed,
  keepAlive,
  resolveAll = resolveAllBySystem,
}: {
  readonly isAllowed: IsAllowed;
  readonly keepAlive: http.AgentOptions;
  readonly resolveAll?: ResolveAll;
}): Agents {
  const options = { ...keepAlive, lookup: guardedLookup(resolveAll, isAllowed) };
  return {
    http: new GuardedHttpAgent(options, isAllowed),
    https: new GuardedHttpsAgent(options, isAllowed),
  };
}
