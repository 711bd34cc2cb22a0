import type { CallOptions } from './connection.ts';
import type { Pages } from './pages.ts';
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
  PolledEvents,
  PollWebhookEventsQuery,
  PurchaseIntent,
  QuoteAnswer,
  QuoteRequest,
  RateCard,
  Readiness,
  RotatedSecret,
  Settings,
  SettingsChange,
  Submission,
  SubmissionCreated,
  SubmissionRequest,
  Transaction,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointCreated,
  WebhookEndpointList,
  WebhookEndpointRequest,
} from './types.ts';

/**
 * One method for each operation of a tenant. A call throws `ApiError` for an error of the service,
 * or `ApiConnectionError` if no complete answer arrived. An aborted call throws the reason of its
 * `signal`. The client repeats a call after temporary errors. The exceptions are `testWebhook`,
 * `testWebhookEndpoint`, `redeliver`, `createKey`, `createWebhookEndpoint`,
 * `rotateWebhookEndpointSecret` and `createPurchaseIntent`, because a repeat would do their work
 * twice.
 */
export interface Client {
  /**
   * The client uses the same idempotency key when it repeats the call. Derive the key from your own
   * records, so that your own repeats use the same key.
   */
  submit(request: SubmissionRequest, options?: CallOptions): Promise<SubmissionCreated>;
  quote(request: QuoteRequest, options?: CallOptions): Promise<QuoteAnswer>;
  getSubmission(submissionId: string, options?: CallOptions): Promise<Submission>;
  listSubmissions(query?: ListSubmissionsQuery, options?: CallOptions): Pages<Submission>;
  /**
   * Throws `ConflictError` with code `terminal_state` if the submission has ended. The error's
   * `problem.submissionStatus` says how the submission ended. If a repeat finds the submission
   * cancelled, the call succeeds with the refund.
   */
  cancel(submissionId: string, options?: CallOptions): Promise<CancelAnswer>;
  /**
   * Polls until the submission has ended. Continues after temporary errors, and throws others at
   * once. Throws `WaitTimeoutError` if the submission has not ended and the next poll would be
   * later than `timeoutMs`. Webhooks report the end sooner.
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
  /** All endpoints, oldest first. The webhook URL in the settings is not among them. */
  listWebhookEndpoints(options?: CallOptions): Promise<WebhookEndpointList>;
  /**
   * Only this answer shows the secret. If `url` is null, read the events with `pollWebhookEvents`.
   */
  createWebhookEndpoint(
    request: WebhookEndpointRequest,
    options?: CallOptions,
  ): Promise<WebhookEndpointCreated>;
  getWebhookEndpoint(endpointId: string, options?: CallOptions): Promise<WebhookEndpoint>;
  changeWebhookEndpoint(
    endpointId: string,
    change: WebhookEndpointChange,
    options?: CallOptions,
  ): Promise<WebhookEndpoint>;
  /**
   * Deletes a webhook endpoint and drops its pending deliveries. The event about the deletion may
   * still arrive.
   */
  deleteWebhookEndpoint(
    endpointId: string,
    options?: CallOptions,
  ): Promise<{ readonly id: string }>;
  /**
   * Replaces the secret. For `overlapHours` (0 to 168, default 24) the previous secret signs too.
   */
  rotateWebhookEndpointSecret(
    endpointId: string,
    rotation?: { readonly overlapHours?: number },
    options?: CallOptions,
  ): Promise<RotatedSecret>;
  testWebhookEndpoint(endpointId: string, options?: CallOptions): Promise<DeliveryQueued>;
  /**
   * Returns events of an endpoint without a URL, oldest first. To get the next events, pass
   * `nextCursor` as `after`.
   */
  pollWebhookEvents(
    endpointId: string,
    query?: PollWebhookEventsQuery,
    options?: CallOptions,
  ): Promise<PolledEvents>;
  listKeys(options?: CallOptions): Promise<KeyList>;
  /**
   * Only the answer to this call shows the secret of the key. To use the key, pass the answer's
   * `keyId` to `createClient` as `keyId`, and its `hmacSecret` as `secret`.
   */
  createKey(request: KeyRequest, options?: CallOptions): Promise<KeyCreated>;
  /**
   * Throws `ConflictError` with code `last_key` if the key is the tenant's last valid one with the
   * scope `settings`.
   */
  deleteKey(keyId: string, options?: CallOptions): Promise<{ readonly keyId: string }>;
  /** Lists the changes of settings, webhook endpoints and keys. */
  listAudit(query?: ListAuditQuery, options?: CallOptions): Pages<AuditEntry>;
  /** `token` is `USDC` by default. */
  createPurchaseIntent(
    request: { readonly credits: number; readonly token?: string },
    options?: CallOptions,
  ): Promise<PurchaseIntent>;
  getPurchaseIntent(reference: string, options?: CallOptions): Promise<PurchaseIntent>;
  /**
   * Waits up to `timeoutSeconds` (0 to 60, default 30) for the payment. Returns the intent when it
   * is confirmed, or when this time is over and it is still pending. Throws `ConflictError` with
   * code `intent_expired` or `intent_failed` if the intent has expired or failed.
   */
  awaitPurchaseIntent(
    reference: string,
    query?: { readonly timeoutSeconds?: number },
    options?: CallOptions,
  ): Promise<PurchaseIntent>;
  /** The QR code of the payment as an SVG. */
  purchaseIntentQr(reference: string, options?: CallOptions): Promise<string>;
  /** Needs no credentials. `not_ready` is an answer, not an error. */
  ready(options?: CallOptions): Promise<Readiness>;
}
