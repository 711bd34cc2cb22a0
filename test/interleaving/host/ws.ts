import { EventEmitter } from 'node:events';
import { hosts } from './host.ts';

export interface Upgrade {
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Dialer {
  dial(socket: SimulatedSocket, upgrade: Upgrade): void;
}

/** The dialer of each simulated agent, by the agent's `Host`. */
export const dialers = new WeakMap<object, Dialer>();

const connecting = 0;
const open = 1;
const closed = 3;

/**
 * One end of a simulated WebSocket. It has the members of the `ws` socket that the agent and the
 * dispatcher use. The network (network.ts) transports its frames.
 */
export class SimulatedSocket extends EventEmitter {
  readonly OPEN = open;
  readonly bufferedAmount = 0;
  readyState = connecting;
  isPaused = false;
  /** Receives each frame that this socket sends. The network sets this callback. */
  onSend: (text: string) => void = () => {};
  onClose: (code: number) => void = () => {};

  opened(): void {
    this.readyState = open;
    this.emit('open');
  }

  send(text: string): void {
    if (this.readyState === open) this.onSend(text);
  }

  close(code = 1005): void {
    if (this.readyState === closed) return;
    this.onClose(code);
    this.ended(code);
  }

  terminate(): void {
    this.close(1006);
  }

  ping(): void {}

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  /** Marks this socket as closed. Emits `close` once and asynchronously, as `ws` does. */
  ended(code: number): void {
    if (this.readyState === closed) return;
    this.readyState = closed;
    queueMicrotask(() => this.emit('close', code, Buffer.alloc(0)));
  }
}

/** The WebSocket client for the agent in a simulation (see hooks.ts). */
export class WebSocket extends SimulatedSocket {
  constructor(
    url: URL,
    protocols: readonly string[],
    options: { readonly headers: Readonly<Record<string, string>> },
  ) {
    super();
    const host = hosts.getStore();
    const dialer = host === undefined ? undefined : dialers.get(host);
    if (dialer === undefined) throw new Error('a WebSocket was opened outside a simulated agent');
    const headers = { ...options.headers, 'sec-websocket-protocol': protocols.join(',') };
    dialer.dial(this, { target: url.pathname + url.search, headers });
  }
}
