import net from 'node:net';
import type { AddressRule } from '@svc/domain';
import { type Destination, type HostMap, routeOf } from './destination.ts';
import type { LookUp } from './look-up.ts';

export type Dialed =
  | { readonly kind: 'connected'; readonly socket: net.Socket }
  /** The address rules do not allow the destination. No connection was opened. */
  | { readonly kind: 'refused' }
  /**
   * The look-up or the connection failed, one of them took too long, or the dialer reached a limit.
   */
  | { readonly kind: 'failed' };

export interface ByteCounts {
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface Dialer {
  /** Never rejects. */
  dial(destination: Destination): Promise<Dialed>;
  counts(): ByteCounts;
  /** Hosts that were refused, in the order of their first refusal, at most `refusalsMax`. */
  refusals(): readonly string[];
  closeConnections(): void;
}

const connectTimeoutMs = 10_000;
/** If an address has not connected after this time, the next address of the name is tried. */
const attemptTimeoutMs = 1_500;
const connectionsMax = 256;
const refusalsMax = 100;
const namesMax = 1_000;

type Answer = readonly string[] | 'refused' | 'failed';

/**
 * Returns a look-up that keeps each answer for the whole job, so that a name cannot get other
 * addresses later. A failed look-up is not kept.
 */
function createAnswers(lookUp: LookUp): (name: string) => Promise<Answer> {
  const answers = new Map<string, Promise<Answer>>();
  const ask = async (name: string): Promise<Answer> => {
    try {
      return await lookUp(name);
    } catch {
      answers.delete(name);
      return 'failed';
    }
  };
  return (name) => {
    const known = answers.get(name);
    if (known !== undefined) return known;
    if (answers.size >= namesMax) return Promise.resolve('failed');
    const asked = ask(name);
    answers.set(name, asked);
    return asked;
  };
}

/**
 * Checks the addresses again at each connection, because the node's own networks may change. An
 * answer with a forbidden address is refused as a whole.
 */
function checked(answer: Answer, isAllowed: AddressRule): Answer {
  if (typeof answer === 'string') return answer;
  return answer.length > 0 && answer.every(isAllowed) ? answer : 'refused';
}

/** Connects to one of these addresses, without a look-up of `host`. */
function connectTo(addresses: readonly string[], host: string, port: number): net.Socket {
  const found = addresses.map((address) => ({ address, family: net.isIP(address) }));
  const [first] = addresses;
  if (addresses.length === 1 && first !== undefined) {
    return net.connect({ host: first, port, allowHalfOpen: true, noDelay: true });
  }
  return net.connect({
    host,
    port,
    allowHalfOpen: true,
    noDelay: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    lookup: (_name, _options, callback) => callback(null, found),
  });
}

async function within<T>(work: Promise<T>, timeoutMs: number, otherwise: T): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(resolve, timeoutMs, otherwise);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function connected(socket: net.Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('close', () => resolve(false));
  });
}

export function createDialer({
  hostMap,
  isAllowed,
  lookUp,
}: {
  readonly hostMap: HostMap;
  readonly isAllowed: AddressRule;
  readonly lookUp: LookUp;
}): Dialer {
  const answerFor = createAnswers(lookUp);
  const refused = new Set<string>();
  const sockets = new Set<net.Socket>();
  let ended: ByteCounts = { sentBytes: 0, receivedBytes: 0 };
  let isDialing = 0;

  const refuse = (host: string): Dialed => {
    if (refused.size < refusalsMax) refused.add(host);
    return { kind: 'refused' };
  };
  const addressesOf = async (destination: Destination): Promise<[Answer, number]> => {
    const route = routeOf(destination, hostMap);
    switch (route.kind) {
      case 'mapped':
        return [[route.address], route.port];
      case 'address':
        return [checked([route.address], isAllowed), route.port];
      case 'name': {
        const answer = await within(answerFor(route.name), connectTimeoutMs, 'failed');
        return [checked(answer, isAllowed), route.port];
      }
      case 'refused':
        return ['refused', destination.port];
    }
  };
  const open = async (
    addresses: readonly string[],
    host: string,
    port: number,
  ): Promise<Dialed> => {
    const socket = connectTo(addresses, host, port);
    sockets.add(socket);
    // Without a listener, Node.js would throw the error. The socket emits `close` after each error,
    // so the next listener does the clean-up.
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      ended = plus(ended, socket);
    });
    if (await within(connected(socket), connectTimeoutMs, false)) {
      return { kind: 'connected', socket };
    }
    socket.destroy();
    return { kind: 'failed' };
  };

  return {
    async dial(destination) {
      if (sockets.size + isDialing >= connectionsMax) return { kind: 'failed' };
      isDialing += 1;
      const [answer, port] = await addressesOf(destination).finally(() => (isDialing -= 1));
      if (answer === 'refused') return refuse(destination.host);
      if (answer === 'failed') return { kind: 'failed' };
      return open(answer, destination.host, port);
    },
    counts: () => [...sockets].reduce(plus, ended),
    refusals: () => [...refused],
    closeConnections() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function plus(counts: ByteCounts, socket: net.Socket): ByteCounts {
  return {
    sentBytes: counts.sentBytes + socket.bytesWritten,
    receivedBytes: counts.receivedBytes + socket.bytesRead,
  };
}
