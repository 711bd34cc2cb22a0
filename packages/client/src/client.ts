import { type Call, callService } from './call.ts';
import { type CallOptions, type ClientOptions, connect } from './connection.ts';
import * as operations from './operations.ts';
import { listOf, type ListQuery, type Pages } from './pages.ts';
import type {
  AuditEntry,
  Balance,
  CancelAnswer,
  Delivery,
  DeliveryQueued,
  EndedSubmission,
  KeyCreated,
  KeyList,
  KeyRequest,
  ListAuditQuery,
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
 * for `testWebhook`, `redeliver`, `createKey` and `createPurchaseIntent`, which a repeat would do
 * twice.
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
  listKeys(options?: CallOptions): Promise<KeyList>;
  /** Pass the `keyId` and `hmacSecret` of the answer to `createClient`. The secret is shown only once. */
  createKey(request: KeyRequest, options?: CallOptions): Promise<KeyCreated>;
  /** Throws `ConflictError` with code `last_key` if no other key may change the settings. */
  deleteKey(keyId: string, options?: CallOptions): Promise<{ readonly keyId: string }>;
  /** Changes of settings, webhook endpoints and keys. */
  listAudit(query?: ListAuditQuery, options?: CallOptions): Pages<AuditEntry>;
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
  const read =
    <Result>(make: () => Call<Result>) =>
    (call?: CallOptions) =>
      callService(connection, make(), call);
  const by =
    <Argument, Result>(make: (argument: Argument) => Call<Result>) =>
    (argument: Argument, call?: CallOptions) =>
      callService(connection, make(argument), call);
  const list =
    <Item>(path: string) =>
    (query?: ListQuery, call?: CallOptions) =>
      listOf<Item>(connection, path, query, call);
  return {
    submit: by(operations.submit),
    quote: by(operations.quote),
    getSubmission: by(operations.getSubmission),
    listSubmissions: list<Submission>(operations.submissionsPath),
    cancel: by(operations.cancel),
    waitFor: (id, call) => waitFor(connection, id, call),
    balance: read(operations.balance),
    rateCard: read(operations.rateCard),
    listTransactions: list<Transaction>(operations.transactionsPath),
    getSettings: read(operations.getSettings),
    changeSettings: by(operations.changeSettings),
    testWebhook: read(operations.testWebhook),
    listDeliveries: list<Delivery>(operations.deliveriesPath),
    getDelivery: by(operations.getDelivery),
    redeliver: by(operations.redeliver),
    listKeys: read(operations.listKeys),
    createKey: by(operations.createKey),
    deleteKey: by(operations.deleteKey),
    listAudit: list<AuditEntry>(operations.auditPath),
    createPurchaseIntent: by(operations.createPurchaseIntent),
    getPurchaseIntent: by(operations.getPurchaseIntent),
    awaitPurchaseIntent: (reference, call) =>
      callService(
        connection,
        operations.awaitPurchaseIntent(reference, call?.timeoutSeconds),
        call,
      ),
    purchaseIntentQr: by(operations.purchaseIntentQr),
    ready: read(operations.ready),
  };
}
