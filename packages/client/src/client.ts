import { callService, errorOf, having } from './call.ts';
import { type CallOptions, type ClientOptions, connect, type Connection } from './connection.ts';
import * as operations from './operations.ts';
import { listOf, type Pages } from './pages.ts';
import { send } from './send.ts';
import type {
  Balance,
  CancelAnswer,
  Delivery,
  DeliveryQueued,
  EndedSubmission,
  ListDeliveriesQuery,
  ListSubmissionsQuery,
  ListTransactionsQuery,
  PurchaseIntent,
  QuoteAnswer,
  QuoteRequest,
  RateCard,
  Readiness,
  Settings,
  SettingsChange,
  Submission,
  SubmissionCreated,
  SubmissionRequest,
  Transaction,
} from './types.ts';
import { waitFor } from './wait-for.ts';

/**
 * One method for each operation of a tenant. Each throws `ApiError` if the service answers with an
 * error, and `ApiConnectionError` if no answer arrives. Temporary errors are repeated first, except
 * for `testWebhook`, `redeliver` and `createPurchaseIntent`, which a repeat would do twice.
 */
export interface Client {
  /** Repeats use the same idempotency key. Derive it from your own records. */
  submit(request: SubmissionRequest, options?: CallOptions): Promise<SubmissionCreated>;
  quote(request: QuoteRequest, options?: CallOptions): Promise<QuoteAnswer>;
  getSubmission(submissionId: string, options?: CallOptions): Promise<Submission>;
  listSubmissions(query?: ListSubmissionsQuery, options?: CallOptions): Pages<Submission>;
  /** Throws `ConflictError` with code `terminal_state` if the submission has ended. Its problem says how. */
  cancel(submissionId: string, options?: CallOptions): Promise<CancelAnswer>;
  /**
   * Polls until the submission has ended, and continues after temporary errors. Webhooks report the
   * end sooner. Throws `WaitTimeoutError` after `timeoutMs`.
   */
  waitFor(
    submissionId: string,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<EndedSubmission>;
  balance(options?: CallOptions): Promise<Balance>;
  rateCard(options?: CallOptions): Promise<RateCard>;
  listTransactions(query?: ListTransactionsQuery, options?: CallOptions): Pages<Transaction>;
  getSettings(options?: CallOptions): Promise<Settings>;
  changeSettings(change: SettingsChange, options?: CallOptions): Promise<Settings>;
  testWebhook(options?: CallOptions): Promise<DeliveryQueued>;
  listDeliveries(query?: ListDeliveriesQuery, options?: CallOptions): Pages<Delivery>;
  getDelivery(deliveryId: string, options?: CallOptions): Promise<Delivery>;
  redeliver(deliveryId: string, options?: CallOptions): Promise<DeliveryQueued>;
  /** `token` is `USDC` by default. */
  createPurchaseIntent(
    request: { readonly credits: number; readonly token?: string },
    options?: CallOptions,
  ): Promise<PurchaseIntent>;
  getPurchaseIntent(reference: string, options?: CallOptions): Promise<PurchaseIntent>;
  /** Waits up to `timeoutSeconds` (0 to 60, default 30) for the payment. */
  awaitPurchaseIntent(
    reference: string,
    options?: CallOptions & { readonly timeoutSeconds?: number },
  ): Promise<PurchaseIntent>;
  /** The QR code of the payment as an SVG. */
  purchaseIntentQr(reference: string, options?: CallOptions): Promise<string>;
  /** Needs no credentials. `not_ready` is an answer, not an error. */
  ready(options?: CallOptions): Promise<Readiness>;
}

/** Creates a client that signs requests and returns typed answers. It holds no timers between calls. */
export function createClient(options: ClientOptions): Client {
  const connection = connect(options);
  return {
    submit: (request, call) => callService(connection, operations.submit(request), call),
    quote: (request, call) => callService(connection, operations.quote(request), call),
    getSubmission: (id, call) => callService(connection, operations.getSubmission(id), call),
    listSubmissions: (query, call) =>
      listOf<Submission>(connection, operations.submissionsPath, query, call),
    cancel: (id, call) => callService(connection, operations.cancel(id), call),
    waitFor: (id, call) => waitFor(connection, id, call),
    balance: (call) => callService(connection, operations.balance(), call),
    rateCard: (call) => callService(connection, operations.rateCard(), call),
    listTransactions: (query, call) =>
      listOf<Transaction>(connection, operations.transactionsPath, query, call),
    getSettings: (call) => callService(connection, operations.getSettings(), call),
    changeSettings: (change, call) =>
      callService(connection, operations.changeSettings(change), call),
    testWebhook: (call) => callService(connection, operations.testWebhook(), call),
    listDeliveries: (query, call) =>
      listOf<Delivery>(connection, operations.deliveriesPath, query, call),
    getDelivery: (id, call) => callService(connection, operations.getDelivery(id), call),
    redeliver: (id, call) => callService(connection, operations.redeliver(id), call),
    createPurchaseIntent: (request, call) =>
      callService(connection, operations.createPurchaseIntent({ token: 'USDC', ...request }), call),
    getPurchaseIntent: (reference, call) =>
      callService(connection, operations.getPurchaseIntent(reference), call),
    awaitPurchaseIntent: (reference, call) =>
      callService(
        connection,
        operations.awaitPurchaseIntent(reference, call?.timeoutSeconds),
        call,
      ),
    purchaseIntentQr: (reference, call) =>
      callService(connection, operations.purchaseIntentQr(reference), call),
    ready: (call) => ready(connection, call),
  };
}

const readReadiness = having<Readiness>('status');

async function ready(connection: Connection, options: CallOptions = {}): Promise<Readiness> {
  const { signal, timeoutMs = connection.requestTimeoutMs } = options;
  const parts = { method: 'GET', path: '/ready' } as const;
  const answer = await send(connection, parts, { isSigned: false, signal, timeoutMs });
  const readiness = readReadiness(answer.text);
  const isKnown = readiness?.status === 'ready' || readiness?.status === 'not_ready';
  if (readiness === undefined || !isKnown) throw errorOf(answer);
  return readiness;
}
