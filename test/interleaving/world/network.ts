import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { linkSilentMs } from '@svc/domain';
import { SimulatedSocket, type Dialer, type Upgrade } from '../host/ws.ts';
import type { SimulatedProcess } from '../schedule/process.ts';
import type { Scheduler } from '../schedule/scheduler.ts';

export interface Listener {
  readonly process: SimulatedProcess;
  /**
   * Decides on an upgrade. To accept it, calls `accept` and then resolves with `accepted`. To
   * refuse it, resolves with an HTTP status. `accept` opens the WebSocket.
   */
  upgrade(
    request: IncomingMessage,
    accept: () => { readonly socket: SimulatedSocket; readonly connection: PassThrough },
  ): Promise<number | 'accepted'>;
}

type Item = { readonly text: string } | { readonly opens: true } | { readonly endCode: number };

const broken = 1006;

/**
 * One direction of a connection. Frames arrive in order, each at a moment that the seed chooses.
 */
class Direction {
  readonly #scheduler: Scheduler;
  readonly #name: string;
  readonly #to: { readonly process: SimulatedProcess; readonly socket: SimulatedSocket };
  #waiting: Item[] = [];
  onHello: () => void = () => {};
  #takeBack: (() => void) | undefined;

  constructor(
    scheduler: Scheduler,
    name: string,
    to: { readonly process: SimulatedProcess; readonly socket: SimulatedSocket },
  ) {
    this.#scheduler = scheduler;
    this.#name = name;
    this.#to = to;
  }

  put(item: Item): void {
    this.#waiting.push(item);
    if (this.#takeBack === undefined) this.#arm();
  }

  drop(): void {
    this.#takeBack?.();
    this.#takeBack = undefined;
    this.#waiting = [];
  }

  #arm(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const what = 'text' in next ? typeOf(next.text) : 'end';
    this.#takeBack = this.#scheduler.enqueue({
      process: this.#to.process,
      name: `gets ${'opens' in next ? 'open' : what} ${this.#name}`,
      canFail: false,
      release: () => this.#deliver(),
    });
  }

  #deliver(): void {
    this.#takeBack = undefined;
    const { process, socket } = this.#to;
    const item = this.#waiting.shift();
    if (item === undefined || process.isDead) return;
    process.run(() => {
      if ('text' in item) socket.emit('message', Buffer.from(item.text), false);
      else if ('opens' in item) socket.opened();
      else socket.ended(item.endCode);
    });
    if ('text' in item && typeOf(item.text) === 'hello') this.onHello();
    this.#arm();
  }
}

function typeOf(text: string): string {
  return /"type":"(\w+)"/.exec(text)?.[1] ?? '?';
}

interface Connection {
  readonly agent: SimulatedProcess;
  readonly agentSocket: SimulatedSocket;
  readonly listener: Listener;
  readonly toAgent: Direction;
  serviceSocket: SimulatedSocket | undefined;
  toService: Direction | undefined;
  isSwallowing: boolean;
}

export class Network implements Dialer {
  readonly #scheduler: Scheduler;
  readonly #listeners: () => readonly Listener[];
  readonly connections = new Set<Connection>();
  readonly #agents = new WeakMap<SimulatedSocket, SimulatedProcess>();
  /**
   * Every link that a dispatcher accepted, in the order of acceptance. Closed links stay in this
   * list.
   */
  readonly #upgraded: Connection[] = [];
  /** Called once, when the next hello has reached its dispatcher. */
  atNextHello: ((connection: Connection) => void) | undefined;
  onError: (error: unknown) => void = () => {};

  constructor(scheduler: Scheduler, listeners: () => readonly Listener[]) {
    this.#scheduler = scheduler;
    this.#listeners = listeners;
  }

  dialerOf(agent: SimulatedProcess): Dialer {
    return {
      dial: (socket, upgrade) => {
        this.#agents.set(socket, agent);
        this.dial(socket, upgrade);
      },
    };
  }

  dial(socket: SimulatedSocket, upgrade: Upgrade): void {
    const agent = this.#agents.get(socket);
    if (agent === undefined) throw new Error('the socket has no agent');
    this.#scheduler.enqueue({
      process: agent,
      name: 'dials',
      canFail: true,
      release: (fate) => this.#connect(agent, socket, upgrade, fate === 'fail'),
    });
  }

  #connect(
    agent: SimulatedProcess,
    agentSocket: SimulatedSocket,
    upgrade: Upgrade,
    isLost: boolean,
  ): void {
    const listeners = this.#listeners();
    // As behind a load balancer, a stalled process gets a link only if all listeners are stalled.
    const able = listeners.filter(({ process }) => !this.#scheduler.isStalled(process));
    const listener = this.#scheduler.random.pick(able.length > 0 ? able : listeners);
    if (listener === undefined || isLost) {
      agent.run(() => {
        agentSocket.emit('error', new Error('connect ECONNREFUSED'));
        agentSocket.ended(broken);
      });
      return;
    }
    const name = `${agent.name}=${listener.process.name}`;
    const connection: Connection = {
      agent,
      agentSocket,
      listener,
      toAgent: new Direction(this.#scheduler, name, { process: agent, socket: agentSocket }),
      serviceSocket: undefined,
      toService: undefined,
      isSwallowing: false,
    };
    this.connections.add(connection);
    agentSocket.onClose = (code) => this.#endToService(connection, code);
    const { process } = listener;
    const upgraded = process.run(() =>
      listener.upgrade(requestOf(upgrade), () => this.#accept(connection)),
    );
    this.#scheduler.inProcess(process, this.#answered(connection, upgraded), this.onError);
  }

  async #answered(connection: Connection, upgraded: Promise<number | 'accepted'>): Promise<void> {
    const status = await upgraded;
    if (status !== 'accepted') this.#refused(connection, status);
  }

  #refused({ agent, agentSocket }: Connection, statusCode: number): void {
    // An HTTP answer without a body, as the event `unexpected-response` of `ws` passes it.
    const response = { statusCode, setTimeout() {}, async *[Symbol.asyncIterator]() {} };
    agent.run(() => {
      agentSocket.emit('unexpected-response', {}, response);
    });
  }

  #accept(connection: Connection) {
    const { agent, listener, agentSocket, toAgent } = connection;
    const socket = new SimulatedSocket();
    socket.opened();
    const name = `${agent.name}=${listener.process.name}`;
    const toService = new Direction(this.#scheduler, name, { process: listener.process, socket });
    connection.serviceSocket = socket;
    this.#upgraded.push(connection);
    connection.toService = toService;
    toService.onHello = () => {
      const strike = this.atNextHello;
      this.atNextHello = undefined;
      strike?.(connection);
    };
    socket.onSend = (text) => {
      if (!connection.isSwallowing) toAgent.put({ text });
    };
    socket.onClose = (code) => toAgent.put({ endCode: code });
    agentSocket.onSend = (text) => toService.put({ text });
    toAgent.put({ opens: true });
    // If the agent has given up meanwhile or is dead, the dispatcher sees the link end.
    if (agent.isDead || agentSocket.readyState > agentSocket.OPEN)
      toService.put({ endCode: broken });
    return { socket, connection: new PassThrough() };
  }

  #endToService({ isSwallowing, toService }: Connection, code: number): void {
    if (!isSwallowing) toService?.put({ endCode: code });
  }

  get live(): Connection[] {
    return [...this.connections].filter(
      ({ agent, agentSocket, listener, isSwallowing }) =>
        !agent.isDead &&
        !listener.process.isDead &&
        !isSwallowing &&
        agentSocket.readyState === agentSocket.OPEN,
    );
  }

  /**
   * The agent among `agents` that has the newest link. Undefined if none has had a link, or if the
   * newest link is not in `live`.
   */
  currentOf(agents: ReadonlySet<SimulatedProcess>): SimulatedProcess | undefined {
    const newest = this.#upgraded.findLast(({ agent }) => agents.has(agent));
    return newest !== undefined && this.live.includes(newest) ? newest.agent : undefined;
  }

  /** Cuts the link. Both sides notice, and all frames in transit are lost. */
  cut(connection: Connection): void {
    const { agentSocket, serviceSocket, toAgent, toService } = connection;
    this.connections.delete(connection);
    toAgent.drop();
    toService?.drop();
    connection.agent.run(() => agentSocket.ended(broken));
    if (serviceSocket !== undefined) toService?.put({ endCode: broken });
  }

  /** Cuts the link. The agent notices at once, and the service after `linkSilentMs`. */
  cutUnnoticed(connection: Connection): void {
    const { agentSocket, toAgent, toService, listener } = connection;
    connection.isSwallowing = true;
    this.connections.delete(connection);
    toAgent.drop();
    toService?.drop();
    connection.agent.run(() => agentSocket.ended(broken));
    listener.process.after(linkSilentMs, () => toService?.put({ endCode: broken }));
  }

  /**
   * Ends the links of a killed process. The other side gets the frames that were sent before, and
   * then the close.
   */
  killed(process: SimulatedProcess): void {
    for (const connection of this.connections) {
      const { agent, listener, toAgent, toService } = connection;
      if (agent !== process && listener.process !== process) continue;
      this.connections.delete(connection);
      if (agent === process) toService?.put({ endCode: broken });
      else toAgent.put({ endCode: broken });
    }
  }

  ping(): void {
    for (const { agent, agentSocket } of this.live) agent.run(() => agentSocket.emit('ping'));
  }
}

function requestOf({ target, headers }: Upgrade): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  request.url = target;
  const all = { ...headers, upgrade: 'websocket', connection: 'Upgrade' };
  Object.assign(request.headers, all);
  for (const [name, value] of Object.entries(all)) request.headersDistinct[name] = [value];
  return request;
}
