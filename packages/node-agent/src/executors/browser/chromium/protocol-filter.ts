// Playwright has no public name for the parts that this file reaches.
/* oxlint-disable no-underscore-dangle */
import { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Browser } from 'playwright-core';

/**
 * Events that nobody here reads, and whose size a page chooses. Playwright would keep hundreds of
 * them, with their values.
 */
const unwanted = new Set([
  'Browser.downloadProgress',
  'Browser.downloadWillBegin',
  'Log.entryAdded',
  'Network.dataReceived',
  'Network.eventSourceMessageReceived',
  'Network.webSocketFrameReceived',
  'Network.webSocketFrameSent',
  'Runtime.bindingCalled',
  'Runtime.consoleAPICalled',
  'Runtime.exceptionThrown',
]);
/**
 * Events that may be large. The fence looks for the filled values in the body of a request, and the
 * body of a form is in both events of its request.
 */
const large = new Set([
  'Fetch.requestPaused',
  'Network.requestWillBeSent',
  'Target.receivedMessageFromTarget',
]);
const eventBytesMax = 256 * 1024;
/** The most bytes of an answer, or of an event that may be large. */
const messageBytesMax = 160 * 1024 * 1024;
/** The most bytes of dropped messages in a job, because reading them costs CPU. */
const droppedBytesMax = 128 * 1024 * 1024;
/** The start of a message that has the method of an event, also inside a message of a target. */
const startBytes = 512;
const methodForm = /^\{"method":"([A-Za-z.]{1,64})"/;
/** The text before a message of a frame or worker, without its backslashes. */
const wrapperForm =
  /^\{"method":"Target\.receivedMessageFromTarget","params":\{"sessionId":"\w{1,64}","message":"/;

/** A command of Playwright to the browser. */
interface Command {
  readonly method: string;
  readonly params?: object;
}

interface Transport {
  send(command: Command): void;
  _dispatch(buffer: Buffer): void;
}

/** The messages that the agent has taken from one browser. */
export interface ProtocolReading {
  /** The bytes of all events that were passed on, and of a message that has not ended. */
  keptBytes(): number;
}

/** The parts of Playwright that are reached by no public name. Its version is pinned. */
interface Internals {
  readonly transport: Transport;
  readonly process: ChildProcess;
}

/** Undefined if Playwright has other parts than this version. */
function internalsOf(browser: Browser): Internals | undefined {
  const server: unknown = Object(browser)._connection?.toImpl?.(browser);
  const transport: unknown = Object(server)._connection?._transport;
  const child: unknown = Object(server).options?.browserProcess?.process;
  if (!isTransport(transport) || !(child instanceof ChildProcess)) return undefined;
  return { transport, process: child };
}

function isTransport(value: unknown): value is Transport {
  const { send, _dispatch: dispatch } = Object(value);
  return typeof send === 'function' && typeof dispatch === 'function';
}

/** Reads on without keeping anything. Playwright keeps hundreds of lines of any length. */
function drain(stream: Readable | null): void {
  stream?.removeAllListeners('data').resume();
}

function methodOf(start: string): string | undefined {
  let message = start.replaceAll('\\', '');
  while (wrapperForm.test(message)) message = message.replace(wrapperForm, '');
  return methodForm.exec(message)?.[1];
}

/** The most bytes of a message that starts with this text. 0: it is dropped. */
function limitOf(start: string): number {
  const method = methodOf(start);
  if (method === undefined || large.has(method)) return messageBytesMax;
  return unwanted.has(method) ? 0 : eventBytesMax;
}

/**
 * Reads messages, each of which ends with a zero byte, and passes on those within their limit.
 * Holds at most one message. `onExcess` is called if the browser sends too much.
 */
export class ProtocolFilter {
  readonly #pass: (message: Buffer) => void;
  readonly #onExcess: () => void;
  #parts: Buffer[] = [];
  #length = 0;
  #limit: number | undefined;
  #isEvent = false;
  #kept = 0;
  #dropped = 0;

  constructor(pass: (message: Buffer) => void, onExcess: () => void) {
    this.#pass = pass;
    this.#onExcess = onExcess;
  }

  keptBytes(): number {
    return this.#kept + this.#length;
  }

  read(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length) {
      const zero = chunk.indexOf(0, start);
      const end = zero === -1 ? chunk.length : zero + 1;
      this.#take(chunk.subarray(start, end));
      if (zero !== -1) this.#end();
      start = end;
    }
  }

  #take(part: Buffer): void {
    if (this.#limit !== undefined && this.#length > this.#limit) {
      this.#drop(part.length);
      return;
    }
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#limit === undefined && (this.#length >= startBytes || part.at(-1) === 0)) {
      const start = Buffer.concat(this.#parts).toString('latin1', 0, startBytes);
      this.#limit = limitOf(start);
      this.#isEvent = methodForm.test(start);
    }
    if (this.#limit === undefined || this.#length <= this.#limit) return;
    if (this.#limit === messageBytesMax) this.#onExcess();
    this.#drop(this.#length);
    this.#parts = [];
  }

  #end(): void {
    const [first, ...more] = this.#parts;
    if (first !== undefined) {
      if (this.#isEvent) this.#kept += this.#length;
      this.#pass(more.length === 0 ? first : Buffer.concat(this.#parts));
    }
    this.#parts = [];
    this.#length = 0;
    this.#limit = undefined;
  }

  #drop(bytes: number): void {
    this.#dropped += bytes;
    if (this.#dropped > droppedBytesMax) this.#onExcess();
  }
}

/**
 * Hides from Playwright the messages that `ProtocolFilter` drops, and the output of the browser
 * (CONTRACT 10). Throws if Playwright has other parts than this version.
 */
export function filterProtocol(browser: Browser, onExcess: () => void): ProtocolReading {
  const internals = internalsOf(browser);
  if (internals === undefined) throw new Error('the messages of the browser cannot be filtered');
  const { transport, process } = internals;
  const filter = new ProtocolFilter(transport._dispatch.bind(transport), onExcess);
  transport._dispatch = (chunk) => filter.read(chunk);
  const send = transport.send.bind(transport);
  // Playwright would keep the bodies of scripts' requests, which nobody here reads.
  transport.send = (command) => {
    const { method, params } = command;
    if (method !== 'Network.enable') send(command);
    else send({ ...command, params: { ...params, maxPostDataSize: 1 } });
  };
  drain(process.stdout);
  // A page writes to this stream by `console.log`.
  drain(process.stderr);
  return filter;
}
