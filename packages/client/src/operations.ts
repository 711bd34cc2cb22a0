import { type Call, callService, having, parseJson } from './call.ts';
import type { Client } from './client-methods.ts';
import type { CallOptions, Connection } from './connection.ts';
import type { ApiError } from './errors.ts';
import { listOf, type ListQuery, withQuery } from './pages.ts';
import type {
  AuditEntry,
  CancelAnswer,
  Delivery,
  Readiness,
  Submission,
  Transaction,
} from './types.ts';

/**
 * The methods of the client, except `waitFor`. `listsOf` makes the methods that return `Pages`.
 * `methodsOf` makes the others from `table`.
 */

interface Shape extends Partial<Call<unknown>> {
  /**
   * True if the method takes an object: the body, or the query of a GET. If the path has an id, the
   * object is the argument after it.
   */
  readonly takesContent?: boolean;
  readonly defaults?: object;
}

type Operation = readonly [
  /**
   * The path after `/v1/`, such as `keys/:`. The id, which is the first argument of the method,
   * replaces the `:`. Empty if `shape.path` is the whole path.
   */
  path: string,
  /**
   * The name of the member that a successful answer must have. For a deletion, whose answer is
   * empty, the method returns the id in this member. Empty if `shape` has `read`.
   */
  member: string,
  shape?: Shape,
];

const submissions = 'submissions';
const settings = 'settings';
const deliveries = 'webhooks/deliveries';
const endpoints = 'webhook-endpoints';
const keys = 'keys';
const intents = 'credits/purchase-intents';

/** A POST that is safe to repeat: a quote, or a creation with an idempotency key. */
const posted: Shape = { method: 'POST', takesContent: true };
/**
 * A POST that is not safe to repeat, because a repeat could create a second resource or rotate a
 * secret a second time.
 */
const postedOnce: Shape = { ...posted, isOnce: true };
/**
 * A POST that queues a delivery. It is not safe to repeat, because a repeat could queue a second
 * test event, or the same delivery once more.
 */
const delivered: Shape = { method: 'POST', isOnce: true };
const patched: Shape = { ...posted, method: 'PATCH' };
/**
 * A deletion. Its answer has no body, so the function of the client returns an object with the id.
 */
const deleted: Shape = { method: 'DELETE' };

const table = {
  submit: [submissions, 'submissionId', posted],
  quote: ['quotes', 'quote', posted],
  getSubmission: [`${submissions}/:`, 'id'],
  cancel: [`${submissions}/:/cancel`, 'refund', { method: 'POST', readRepeat: earlierCancel }],
  balance: ['credits/balance', 'available'],
  rateCard: ['rate-card', 'jobTypes'],
  getSettings: [settings, 'tenantId'],
  changeSettings: [settings, 'tenantId', patched],
  testWebhook: ['webhooks/test', 'deliveryId', delivered],
  getDelivery: [`${deliveries}/:`, 'attempts'],
  redeliver: [`${deliveries}/:/redeliver`, 'deliveryId', delivered],
  listWebhookEndpoints: [endpoints, 'data'],
  createWebhookEndpoint: [endpoints, 'secret', postedOnce],
  getWebhookEndpoint: [`${endpoints}/:`, 'kind'],
  changeWebhookEndpoint: [`${endpoints}/:`, 'kind', patched],
  deleteWebhookEndpoint: [`${endpoints}/:`, 'id', deleted],
  rotateWebhookEndpointSecret: [`${endpoints}/:/rotate-secret`, 'secret', postedOnce],
  testWebhookEndpoint: [`${endpoints}/:/test`, 'deliveryId', delivered],
  pollWebhookEvents: [
    `${endpoints}/:/events`,
    'nextCursor',
    { takesContent: true, waitMs: 30_000 },
  ],
  listKeys: [keys, 'data'],
  createKey: [keys, 'hmacSecret', postedOnce],
  deleteKey: [`${keys}/:`, 'keyId', deleted],
  createPurchaseIntent: [intents, 'solanaPayUrl', { ...postedOnce, defaults: { token: 'USDC' } }],
  getPurchaseIntent: [`${intents}/:`, 'solanaPayUrl'],
  awaitPurchaseIntent: [
    `${intents}/:/await`,
    'solanaPayUrl',
    { takesContent: true, waitMs: 60_000 },
  ],
  purchaseIntentQr: [`${intents}/:/qr.svg`, '', { read: readSvg }],
  ready: ['', '', { path: '/ready', isOpen: true, read: readReadiness }],
} satisfies Partial<Record<keyof Client, Operation>>;

/**
 * Reads the error of a repeated cancel. If the answer of the first cancel was lost, this error
 * contains the refund of the first cancel.
 */
function earlierCancel({ code, problem }: ApiError): CancelAnswer | undefined {
  const { submissionId, submissionStatus, refund } = problem;
  const isEarlier = code === 'terminal_state' && submissionStatus === 'cancelled';
  return isEarlier && submissionId && refund
    ? { submissionId, status: 'cancelled', refund }
    : undefined;
}

function readSvg(text: string): string | undefined {
  return text.includes('<svg') ? text : undefined;
}

/**
 * Reads a readiness answer: `ready`, or `not_ready` with the HTTP status 503. Returns undefined for
 * a problem document, because its member `status` is a number.
 */
function readReadiness(text: string): Readiness | undefined {
  const readiness: Readiness | null | undefined = parseJson(text);
  return typeof readiness?.status === 'string' ? readiness : undefined;
}

/**
 * Reads a deletion. A successful answer has no body. If that answer is lost, the repeat gets
 * `not_found`, which counts as success.
 */
function readDeletion(result: object): Pick<Call<object>, 'read' | 'readRepeat'> {
  return {
    read: (text) => (text ? undefined : result),
    readRepeat: ({ code }) => (code === 'not_found' ? result : undefined),
  };
}

function methodOf(connection: Connection, [path, member, shape = {}]: Operation) {
  const { takesContent, defaults, ...parts } = shape;
  // The arguments are the id, the content and the options. The id and the content are present only
  // if the operation takes them.
  return (...args: unknown[]) => {
    const id = path.includes(':') ? String(args.shift()) : '';
    const content = takesContent ? { ...defaults, ...Object(args.shift()) } : undefined;
    const target = `/v1/${path.replace(':', encodeURIComponent(id))}`;
    return callService<unknown>(
      connection,
      {
        method: 'GET',
        path: parts.method ? target : withQuery(target, { ...content }),
        // `JSON.stringify` returns undefined if there is no content.
        body: parts.method && JSON.stringify(content),
        read: having<Record<string, unknown>>(member),
        ...(shape === deleted && readDeletion({ [member]: id })),
        ...parts,
      },
      Object(args[0]),
    );
  };
}

type Methods = Pick<Client, keyof typeof table>;

export function methodsOf(connection: Connection): Methods;
export function methodsOf(connection: Connection): object {
  return Object.fromEntries(
    Object.entries<Operation>(table).map(([name, operation]) => [
      name,
      methodOf(connection, operation),
    ]),
  );
}

export function listsOf(connection: Connection) {
  const list =
    <Item>(path: string) =>
    (query?: ListQuery, options?: CallOptions) =>
      listOf<Item>(connection, `/v1/${path}`, query, options);
  return {
    listSubmissions: list<Submission>(submissions),
    listTransactions: list<Transaction>('credits/transactions'),
    listDeliveries: list<Delivery>(deliveries),
    listAudit: list<AuditEntry>('audit'),
  };
}
