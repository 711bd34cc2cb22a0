import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http';

export type ProxyAction =
  | 'pass'
  /** Closes the connection and forwards nothing. */
  | 'cut'
  /** Forwards the request and closes the connection instead of answering. */
  | 'lose'
  /** Forwards the request and closes the connection in the middle of the answer. */
  | 'truncate'
  /** Forwards nothing and never answers. */
  | 'hang'
  /** Sends an answer of 20 MiB, and forwards nothing. */
  | 'flood'
  | { readonly delayMs: number }
  /**
   * Forwards the request. The `Date` of the answer is the machine's time plus `dateShiftSeconds`.
   */
  | { readonly dateShiftSeconds: number }
  /** Sends this answer, and forwards nothing. */
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly problem?: Readonly<Record<string, unknown>>;
      readonly json?: Readonly<Record<string, unknown>>;
      readonly body?: string;
    };

interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Proxy {
  readonly url: string;
  /** The requests since the last call of `plan`, or since the start. */
  readonly seen: readonly SeenRequest[];
  /**
   * Sets the actions of the next requests, in their order, and empties `seen`. The last action
   * repeats.
   */
  plan(actions: readonly ProxyAction[]): void;
  decide(decision: () => ProxyAction): void;
  close(): Promise<void>;
}

const floodBytes = 20 * 1024 * 1024;

const always = (): ProxyAction => 'pass';

export async function startProxy(
  gatewayUrl: string,
  options: { readonly keepsConnections: boolean },
): Promise<Proxy> {
  const agent = new Agent({ keepAlive: true });
  let seen: SeenRequest[] = [];
  let decide = always;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: target = '', headers } = request;
    if (!options.keepsConnections) response.setHeader('connection', 'close');
    const body = await readAll(request);
    seen.push({ method, target, headers, body: body.toString() });
    await act(decide(), { method, target, headers, body }, response, { gatewayUrl, agent });
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    get seen() {
      return seen;
    },
    plan(actions) {
      const left = [...actions];
      seen = [];
      decide = () => (left.length > 1 ? left.shift() : left[0]) ?? 'pass';
    },
    decide(decision) {
      decide = decision;
    },
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

interface Upstream {
  readonly gatewayUrl: string;
  readonly agent: Agent;
}

interface Forwarded {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function act(
  action: ProxyAction,
  request: Forwarded,
  response: ServerResponse,
  upstream: Upstream,
): Promise<void> {
  if (action === 'hang') return;
  if (action === 'flood') {
    response.end(Buffer.alloc(floodBytes, ' '));
    return;
  }
  if (action === 'cut') {
    response.destroy();
    return;
  }
  if (typeof action === 'object' && 'status' in action) {
    answerInstead(action, response);
    return;
  }
  if (typeof action === 'object' && 'delayMs' in action) {
    await new Promise((resolve) => {
      setTimeout(resolve, action.delayMs);
    });
  }
  const answer = await forward(request, upstream);
  if (action === 'lose') {
    response.destroy();
    return;
  }
  const headers = { ...answer.headers };
  if (typeof action === 'object' && 'dateShiftSeconds' in action) {
    const shiftedMs = Date.now() + action.dateShiftSeconds * 1000;
    headers.date = new Date(shiftedMs).toUTCString();
  }
  response.writeHead(answer.status, headers);
  if (action === 'truncate') {
    response.write(answer.body.subarray(0, answer.body.byteLength / 2));
    setImmediate(() => response.destroy());
    return;
  }
  response.end(answer.body);
}

type Instead = Extract<ProxyAction, { status: number }>;

function answerInstead(action: Instead, response: ServerResponse): void {
  const { status, headers = {}, problem, json, body = '' } = action;
  const value = problem === undefined ? json : { title: 'By the proxy', status, ...problem };
  const contentType = problem === undefined ? 'application/json' : 'application/problem+json';
  response.writeHead(status, {
    'x-request-id': 'by-the-proxy',
    ...(value === undefined ? {} : { 'content-type': contentType }),
    ...headers,
  });
  response.end(value === undefined ? body : JSON.stringify(value));
}

async function forward(request: Forwarded, { gatewayUrl, agent }: Upstream) {
  const { method, target, headers, body } = request;
  const { connection: _, ...kept } = headers;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const { hostname, port } = new URL(gatewayUrl);
    const sent = httpRequest({ hostname, port, method, path: target, headers: kept, agent });
    sent.on('response', resolve).on('error', reject).end(body);
  });
  const { connection: _connection, 'keep-alive': _keepAlive, ...answered } = answer.headers;
  return { status: answer.statusCode ?? 502, headers: answered, body: await readAll(answer) };
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}
