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
 * A failed call throws `ApiError`, or `ApiConnectionError` if no complete answer arrived. The
 * client repeats most calls after a temporary error (CONTRACT 11).
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
   * Throws `ConflictError` (`terminal_state`) if the submission has ended. If a repeat by the
   * client finds the submission cancelled, the call returns the refund instead.
   */
  cancel(submissionId: string, options?: CallOptions): Promise<CancelAnswer>;
  /**
   * Polls until the submission has ended. Continues after temporary errors. Throws
   * `WaitTimeoutError` if the next poll would begin more than `timeoutMs` after the call.
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
  /** The client does not repeat this call after a temporary error. */
  testWebhook(options?: CallOptions): Promise<DeliveryQueued>;
  listDeliveries(query?: ListDeliveriesQuery, options?: CallOptions): Pages<Delivery>;
  getDelivery(deliveryId: string, options?: CallOptions): Promise<Delivery>;
  /** The client does not repeat this call after a temporary error. */
  redeliver(deliveryId: string, options?: CallOptions): Promise<DeliveryQueued>;
  /** All endpoints, oldest first. The webhook URL in the settings is not among them. */
  listWebhookEndpoints(options?: CallOptions): Promise<WebhookEndpointList>;
  /**
   * Only this answer shows the secret. If `url` is null, read the events with `pollWebhookEvents`.
   * The client does not repeat this call after a temporary error.
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
   * Deletes a webhook endpoint and drops its pending deliveries. The endpoint's URL may still
   * receive the event about this deletion.
   */
  deleteWebhookEndpoint(
    endpointId: string,
    options?: CallOptions,
  ): Promise<{ readonly id: string }>;
  /**
   * Replaces the secret. For `overlapHours` (0 to 168, default 24) the previous secret signs too.
   * The client does not repeat this call after a temporary error.
   */
  rotateWebhookEndpointSecret(
    endpointId: string,
    rotation?: { readonly overlapHours?: number },
    options?: CallOptions,
  ): Promise<RotatedSecret>;
  /** The client does not repeat this call after a temporary error. */
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
   * Only this answer shows the secret. Pass its `keyId` and `hmacSecret` to `createClient` as
   * `keyId` and `secret`. The client does not repeat this call after a temporary error.
   */
  createKey(request: KeyRequest, options?: CallOptions): Promise<KeyCreated>;
  /**
   * Throws `ConflictError` with code `last_key` if this is the tenant's only valid key with the
   * scope `settings`.
   */
  deleteKey(keyId: string, options?: CallOptions): Promise<{ readonly keyId: string }>;
  /** Lists the changes of settings, secrets, webhook endpoints and keys. */
  listAudit(query?: ListAuditQuery, options?: CallOptions): Pages<AuditEntry>;
  /** `token` is `USDC` by default. The client does not repeat this call after a temporary error. */
  createPurchaseIntent(
    request: { readonly credits: number; readonly token?: string },
    options?: CallOptions,
  ): Promise<PurchaseIntent>;
  getPurchaseIntent(reference: string, options?: CallOptions): Promise<PurchaseIntent>;
  /**
   * Waits for the payment, and returns the intent as confirmed or still pending. Throws
   * `ConflictError` with code `intent_expired` or `intent_failed`.
   */
  awaitPurchaseIntent(
    reference: string,
    /** `timeoutSeconds` limits the wait: 0 to 60, default 30. */
    query?: { readonly timeoutSeconds?: number },
    options?: CallOptions,
  ): Promise<PurchaseIntent>;
  /** The QR code of the payment as an SVG. */
  purchaseIntentQr(reference: string, options?: CallOptions): Promise<string>;
  /** Needs no credentials. `not_ready` is an answer, not an error. */
  ready(options?: CallOptions): Promise<Readiness>;
}
