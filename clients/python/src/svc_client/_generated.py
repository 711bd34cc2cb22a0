"""The requests, answers and events of the service.

Generated from the OpenAPI document by `pnpm openapi:freeze`: do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union

__all__ = [
    "AtsApplicationPayload",
    "AtsApplicationPayloadJobContext",
    "AuditEntry",
    "AuditPage",
    "AwaitPurchaseIntentQuery",
    "Balance",
    "CancelAnswer",
    "ChangeAuthor",
    "CreditsLowBalanceEvent",
    "CreditsLowBalanceEventData",
    "CreditsPurchasedEvent",
    "CreditsPurchasedEventData",
    "Delivery",
    "DeliveryAttempt",
    "DeliveryPage",
    "DeliveryQueued",
    "JobResult",
    "Key",
    "KeyCreated",
    "KeyList",
    "KeyRequest",
    "ListAuditQuery",
    "ListDeliveriesQuery",
    "ListSubmissionsQuery",
    "ListTransactionsQuery",
    "NotReady",
    "PollWebhookEventsQuery",
    "PolledEvent",
    "PolledEvents",
    "Problem",
    "ProblemError",
    "PurchaseIntent",
    "PurchasePayment",
    "Quote",
    "QuoteAnswer",
    "QuoteRequest",
    "Rate",
    "RateCard",
    "RateCardJobTypes",
    "RateCardJobTypesTiers",
    "Ready",
    "Refund",
    "RotatedSecret",
    "Settings",
    "SettingsChange",
    "SettingsChangedEvent",
    "SettingsChangedEventData",
    "SettingsChangedEventDataByKeyId",
    "SettingsChangedEventDataByOperator",
    "SettingsWebhookDisabled",
    "Submission",
    "SubmissionCancelledEvent",
    "SubmissionCancelledEventData",
    "SubmissionCompletedEvent",
    "SubmissionCompletedEventData",
    "SubmissionCreated",
    "SubmissionCreatedBalance",
    "SubmissionFailedEvent",
    "SubmissionFailedEventData",
    "SubmissionFailedEventDataFailure",
    "SubmissionFailure",
    "SubmissionLateOutcome",
    "SubmissionLateOutcomeEvent",
    "SubmissionLateOutcomeEventData",
    "SubmissionPage",
    "SubmissionRequest",
    "Transaction",
    "TransactionPage",
    "Usage",
    "WebhookEndpoint",
    "WebhookEndpointChange",
    "WebhookEndpointCreated",
    "WebhookEndpointCreatedDisabled",
    "WebhookEndpointDisabled",
    "WebhookEndpointList",
    "WebhookEndpointRequest",
    "WebhookEvent",
    "WebhookTestEvent",
]


class _ProblemRequired(TypedDict):
    type: str
    """A link to the description of the error that `code` names."""
    title: str
    """The kind of error in a few words."""
    status: int
    """The HTTP status."""
    detail: str
    """The reason for this answer, for people."""
    code: Union[Literal["bad_request", "unauthenticated", "insufficient_credits", "job_type_not_allowed", "operator_only", "scope_missing", "not_found", "method_not_allowed", "request_timeout", "idempotency_key_conflict", "terminal_state", "solana_disabled", "intent_expired", "intent_failed", "reference_conflict", "webhook_url_missing", "endpoint_limit", "delivery_in_progress", "key_limit", "last_key", "payload_too_large", "unsupported_media_type", "misdirected_request", "validation_error", "unknown_job_type", "unknown_tier", "quote_failed", "rate_limited", "too_many_intents", "headers_too_large", "internal_error", "dispatch_unavailable", "unavailable"], str]
    """The stable code. Let programs decide by this code."""
    requestId: str
    """The id of the request. Quote it when you contact support."""


class Problem(_ProblemRequired, total=False):
    required: float
    """For 402: the credits that the submission would have held. The unit is credits, with at most six decimals."""
    errors: list[ProblemError]
    """For 422: each violation."""
    submissionId: str
    """The id of the submission."""
    submissionStatus: Union[Literal["pending", "dispatched", "running", "submitted", "failed", "cancelled"], str]
    """For `terminal_state`: the status of the submission."""
    refund: Refund
    """For `terminal_state`: the refund, if the submission was cancelled."""
    reference: str
    """The `reference` of the purchase intent."""
    paidAmount: float
    """The amount paid so far. The unit is USDC, with at most six decimals."""
    retryAfterSeconds: int
    """For 429 and 503: the seconds to wait before you repeat the request."""


class _ProblemErrorRequired(TypedDict):
    path: str
    """A JSON Pointer to the part of the body that breaks the rule. Empty for the whole body and for a query parameter."""
    message: str
    """The rule that the member or the parameter breaks, such as "is required"."""
    keyword: str
    """The JSON Schema keyword of this rule, or the name that the service gives the rule, such as `uniqueMembers`."""


class ProblemError(_ProblemErrorRequired, total=False):
    parameter: str
    """The query parameter that breaks the rule."""


class Quote(TypedDict):
    estimated: float
    """The likely price. The unit is credits, with at most six decimals."""
    max: float
    """The highest price. A submission holds this amount. The unit is credits, with at most six decimals."""
    surge: float
    """The surge multiplier, included in the prices. It rises when the nodes are busy."""


class Refund(TypedDict):
    amount: float
    """The released part of the hold. The unit is credits, with at most six decimals."""
    charged: float
    """The charged credits. The unit is credits, with at most six decimals."""


class Usage(TypedDict, total=False):
    nodeSeconds: float
    """Seconds that the job has run on the node."""
    cpuSeconds: float
    """Seconds of CPU time."""
    memoryGbSeconds: float
    """Gigabyte-seconds of memory."""
    bandwidthMb: float
    """Megabytes sent and received."""
    actions: float
    """Filled fields, clicks, uploads and navigations."""


class Balance(TypedDict):
    balance: float
    """All credits, the held ones included. The unit is credits, with at most six decimals."""
    held: float
    """The held credits. The unit is credits, with at most six decimals."""
    available: float
    """`balance - held`. The unit is credits, with at most six decimals."""
    rebateAccrued: float
    """The unpaid rebate on charges. The unit is credits, with at most six decimals."""
    currency: Literal["credits"]
    """The unit of the amounts."""
    usdPerCredit: float
    """The price of a credit in US dollars."""


class RateCardJobTypesTiers(TypedDict, total=False):
    standard: Rate
    """The prices of the tier `standard`."""
    priority: Rate
    """The prices of the tier `priority`."""
    instant: Rate
    """The prices of the tier `instant`."""


class RateCardJobTypes(TypedDict):
    jobType: str
    """The type of the job."""
    tiers: RateCardJobTypesTiers
    """The prices of each tier."""


class RateCard(TypedDict):
    version: int
    """The number of the rate card."""
    surgeMultiplier: float
    """The current surge multiplier. It rises when the nodes are busy."""
    usdPerCredit: float
    """The price of a credit in US dollars."""
    jobTypes: list[RateCardJobTypes]
    """The prices of each job type."""


class Rate(TypedDict):
    base: float
    """The credits for a completed run before its usage is added. The unit is credits, with at most six decimals."""
    min: float
    """The least credits for a completed run, before the factors of tier and surge. The unit is credits, with at most six decimals."""
    max: float
    """The most credits for a run, before the factors of tier and surge. The unit is credits, with at most six decimals."""
    tierMultiplier: float
    """The factor of the tier."""
    weights: Usage
    """The credits for each unit of usage."""


class Ready(TypedDict):
    status: Literal["ready"]
    """The service is ready."""


class NotReady(TypedDict):
    status: Literal["not_ready"]
    """The service is not ready."""
    missing: list[str]
    """The dependencies that do not answer."""


class _SubmissionRequestRequired(TypedDict):
    idempotencyKey: str
    """You can repeat a request with the same key and body: it is charged only once. Derive keys from your own records."""
    jobType: str
    """The type of the job."""
    payload: AtsApplicationPayload
    """The input of the job."""


class SubmissionRequest(_SubmissionRequestRequired, total=False):
    tier: str
    """The tier: how soon the job runs, and at which price."""


class SubmissionCreatedBalance(TypedDict):
    after: float
    """The available credits after the hold or the purchase. The unit is credits, with at most six decimals."""
    held: float
    """The held credits. The unit is credits, with at most six decimals."""


class _SubmissionCreatedRequired(TypedDict):
    submissionId: str
    """The id of the submission."""
    status: Literal["dispatched"]
    """A node has accepted the job."""
    quote: Quote
    """The quoted price."""
    balance: SubmissionCreatedBalance
    """The available credits after the hold (`after`), and the amount of this hold (`held`)."""


class SubmissionCreated(_SubmissionCreatedRequired, total=False):
    idempotent: Literal[True]
    """Present if this answer repeats the answer to an earlier request."""


class SubmissionLateOutcome(TypedDict):
    status: Union[Literal["submitted", "failed"], str]
    """The state of the submission. In `lateOutcome`: the outcome that the node reported."""
    at: str
    """The time at which the node reported the outcome."""


class Submission(TypedDict):
    id: str
    """The id of the submission."""
    status: Union[Literal["pending", "dispatched", "running", "submitted", "failed", "cancelled"], str]
    """The state of the submission."""
    jobType: str
    """The type of the job."""
    tier: Union[Literal["standard", "priority", "instant"], str]
    """The tier: how soon the job runs, and at which price."""
    idempotencyKey: str
    """You can repeat a request with the same key and body: it is charged only once. Derive keys from your own records."""
    quote: Quote
    """The quoted price."""
    actualCredits: Union[float, None]
    """The charged credits. Null until the submission has ended."""
    refundedCredits: Union[float, None]
    """The released credits. Null until the submission has ended."""
    usage: Usage
    """The usage reported so far. Empty before the first report."""
    failure: Union[SubmissionFailure, None]
    """Why the submission failed. Null if it did not."""
    result: Union[JobResult, None]
    """The result of the job if the status is `submitted`. Its members depend on the job type. Null if there is none."""
    lateOutcome: Union[SubmissionLateOutcome, None]
    """An outcome that a node reported after the submission ended. Null if there is none."""
    createdAt: str
    """The time of the creation."""
    dispatchedAt: Union[str, None]
    """The time at which a node accepted the job."""
    startedAt: Union[str, None]
    """The time at which the run began."""
    finishedAt: Union[str, None]
    """The time at which the submission ended."""


class SubmissionPage(TypedDict):
    data: list[Submission]
    """The items, newest first."""
    nextCursor: Union[str, None]
    """Pass it as `cursor` to get the next page. Null on the last page."""


class SubmissionFailure(TypedDict):
    code: Union[Literal["ats_rejected", "confirmation_required", "posting_closed", "form_unsupported", "login_required", "captcha", "site_unreachable", "invalid_payload", "node_error", "node_lost", "not_started", "deadline_exceeded"], str]
    """The reason as a code. Decide by `retriable` and `outcomeUnknown`, not by the code, whether to repeat the job."""
    message: str
    """The reason, for people."""
    retriable: bool
    """True if the same job may succeed with a new idempotency key."""
    outcomeUnknown: bool
    """True if the job may have been done. Check if it was done before you repeat it."""


class JobResult(TypedDict, total=False):
    confirmationId: str
    """The confirmation number that the site showed."""
    confirmationUrl: str
    """The page of the confirmation."""
    details: dict[str, Any]
    """Facts about the run."""


class CancelAnswer(TypedDict):
    submissionId: str
    """The id of the submission."""
    status: Literal["cancelled"]
    """The submission is cancelled."""
    refund: Refund
    """How many credits the cancel released (`amount`) and charged (`charged`)."""


class _QuoteRequestRequired(TypedDict):
    jobType: str
    """The type of the job."""
    payload: AtsApplicationPayload
    """The input of the job."""


class QuoteRequest(_QuoteRequestRequired, total=False):
    tier: str
    """The tier: how soon the job runs, and at which price."""


class QuoteAnswer(TypedDict):
    quote: Quote
    """The quoted price."""
    sufficient: bool
    """True if the available credits cover `quote.max`."""
    available: float
    """`balance - held`. The unit is credits, with at most six decimals."""


class Transaction(TypedDict):
    id: str
    """The id of the movement."""
    type: Union[Literal["grant", "hold", "charge", "release", "rebate", "reversal"], str]
    """The kind of the movement."""
    amount: float
    """The moved credits, always positive. The unit is credits, with at most six decimals."""
    balanceAfter: float
    """The balance after the movement. The unit is credits, with at most six decimals."""
    heldAfter: float
    """The held credits after the movement. The unit is credits, with at most six decimals."""
    availableAfter: float
    """The available credits after the movement. The unit is credits, with at most six decimals."""
    submissionId: Union[str, None]
    """The submission, if the movement belongs to one."""
    reference: Union[str, None]
    """For a `grant`, the reference of the purchase or grant. For a `reversal`, the reference of the purchase that it reverses. Null for other types."""
    createdAt: str
    """The time of the creation."""


class TransactionPage(TypedDict):
    data: list[Transaction]
    """The items, newest first."""
    nextCursor: Union[str, None]
    """Pass it as `cursor` to get the next page. Null on the last page."""


class Delivery(TypedDict):
    id: str
    """The id of the delivery, as in `X-SVC-Delivery`."""
    eventId: str
    """The id of the event."""
    endpointId: Union[str, None]
    """The id of the webhook endpoint. Null for a delivery to the `webhookUrl` of the settings."""
    type: Union[Literal["submission.completed", "submission.failed", "submission.cancelled", "submission.late_outcome", "credits.low_balance", "credits.purchased", "settings.changed", "webhook.test"], str]
    """The type of the event."""
    status: Union[Literal["pending", "delivered", "exhausted", "dropped"], str]
    """The state of the delivery."""
    attempts: list[DeliveryAttempt]
    """The attempts of the current round. A new round begins when a delivery is sent again."""
    nextAttemptAt: Union[str, None]
    """The earliest time of the next attempt. Null if there is none."""
    createdAt: str
    """The time of the creation."""


class DeliveryAttempt(TypedDict):
    number: int
    """The number of the attempt, from 1."""
    at: str
    """The time at which the attempt began."""
    statusCode: Union[int, None]
    """The HTTP status of the response. Null if there is no complete response, or if the result was not recorded."""
    durationMs: Union[int, None]
    """The duration of the attempt in milliseconds."""
    error: Union[str, None]
    """Why there is no complete response. Null if there is one, or if the result was not recorded."""
    response: Union[str, None]
    """The first 1 KiB of the response."""


class DeliveryPage(TypedDict):
    data: list[Delivery]
    """The items, newest first."""
    nextCursor: Union[str, None]
    """Pass it as `cursor` to get the next page. Null on the last page."""


class DeliveryQueued(TypedDict):
    deliveryId: str
    """The id of the delivery."""


class SettingsWebhookDisabled(TypedDict):
    at: str
    """The time at which the deliveries were disabled."""
    reason: str
    """The reason, for people."""


class Settings(TypedDict):
    webhookUrl: Union[str, None]
    """The URL to which the service posts events of all types. Null if there is none. Webhook endpoints have their own URLs."""
    lowBalanceThreshold: float
    """The service sends `credits.low_balance` when a charge takes the balance below this value, or when you raise this value above the balance. The unit is credits, with at most six decimals."""
    webhookDisabled: Union[SettingsWebhookDisabled, None]
    """When and why deliveries to `webhookUrl` were disabled. Null if they are enabled."""
    allowedJobTypes: list[str]
    """The job types that this tenant may use."""
    tenantId: str
    """The id of the tenant."""
    environment: Union[Literal["sandbox", "production"], str]
    """The environment: sandbox or production."""


class SettingsChange(TypedDict, total=False):
    webhookUrl: Union[str, None]
    """The URL to which the service posts events of all types. Null if there is none. Webhook endpoints have their own URLs."""
    lowBalanceThreshold: float
    """The service sends `credits.low_balance` when a charge takes the balance below this value, or when you raise this value above the balance."""


class WebhookEndpointDisabled(TypedDict):
    at: str
    """The time at which the deliveries were disabled."""
    reason: str
    """The reason, for people."""


class WebhookEndpoint(TypedDict):
    id: str
    """The id of the endpoint."""
    kind: Union[Literal["push", "poll"], str]
    """`push`: the service posts the events to `url`. `poll`: you read the events."""
    url: Union[str, None]
    """The URL of the endpoint. Null if the service posts nothing and you read the events yourself."""
    events: Union[list[Union[Literal["submission.completed", "submission.failed", "submission.cancelled", "submission.late_outcome", "credits.low_balance", "credits.purchased", "settings.changed", "webhook.test"], str]], None]
    """The types of events that the endpoint gets. Null means all types."""
    description: Union[str, None]
    """A note for your records."""
    disabled: Union[WebhookEndpointDisabled, None]
    """When and why deliveries to the URL were disabled. Null if they are enabled."""
    createdAt: str
    """The time of the creation."""


class WebhookEndpointCreatedDisabled(TypedDict):
    at: str
    """The time at which the deliveries were disabled."""
    reason: str
    """The reason, for people."""


class WebhookEndpointCreated(TypedDict):
    id: str
    """The id of the endpoint."""
    kind: Union[Literal["push", "poll"], str]
    """`push`: the service posts the events to `url`. `poll`: you read the events."""
    url: Union[str, None]
    """The URL of the endpoint. Null if the service posts nothing and you read the events yourself."""
    events: Union[list[Union[Literal["submission.completed", "submission.failed", "submission.cancelled", "submission.late_outcome", "credits.low_balance", "credits.purchased", "settings.changed", "webhook.test"], str]], None]
    """The types of events that the endpoint gets. Null means all types."""
    description: Union[str, None]
    """A note for your records."""
    disabled: Union[WebhookEndpointCreatedDisabled, None]
    """When and why deliveries to the URL were disabled. Null if they are enabled."""
    createdAt: str
    """The time of the creation."""
    secret: str
    """The secret that verifies the webhooks of this endpoint. It is shown only once."""


class WebhookEndpointList(TypedDict):
    data: list[WebhookEndpoint]
    """The endpoints, oldest first."""


class _WebhookEndpointRequestRequired(TypedDict):
    url: Union[str, None]
    """The URL of the endpoint. Null if the service posts nothing and you read the events yourself."""


class WebhookEndpointRequest(_WebhookEndpointRequestRequired, total=False):
    events: Union[list[Literal["submission.completed", "submission.failed", "submission.cancelled", "submission.late_outcome", "credits.low_balance", "credits.purchased", "settings.changed", "webhook.test"]], None]
    """The types of events that the endpoint gets. Null means all types."""
    description: Union[str, None]
    """A note for your records."""


class WebhookEndpointChange(TypedDict, total=False):
    url: Union[str, None]
    """The URL of the endpoint. Null if the service posts nothing and you read the events yourself."""
    events: Union[list[Literal["submission.completed", "submission.failed", "submission.cancelled", "submission.late_outcome", "credits.low_balance", "credits.purchased", "settings.changed", "webhook.test"]], None]
    """The types of events that the endpoint gets. Null means all types."""
    description: Union[str, None]
    """A note for your records."""


class RotatedSecret(TypedDict):
    secret: str
    """The secret that verifies the webhooks of this endpoint. It is shown only once."""


class PolledEvent(TypedDict):
    id: str
    """The id of the event."""
    type: Union[Literal["submission.completed", "submission.failed", "submission.cancelled", "submission.late_outcome", "credits.low_balance", "credits.purchased", "settings.changed", "webhook.test"], str]
    """The type of the event."""
    timestamp: str
    """The time of the event."""
    data: dict[str, Any]
    """The facts of the event."""
    deliveryId: str
    """The id of the delivery."""


class PolledEvents(TypedDict):
    data: list[PolledEvent]
    """The events, oldest first."""
    nextCursor: str
    """Pass it as `after` to read later events. It is never null."""


class PurchaseIntent(TypedDict):
    reference: str
    """The id of the intent: a Solana public key."""
    solanaPayUrl: str
    """The Solana Pay URL of the intent, for a wallet. Pay exactly the amount in the URL, and name its reference in the transaction."""
    credits: float
    """The credits of the purchase. The unit is credits, with at most six decimals."""
    amount: float
    """The price. The unit is USDC, with at most six decimals."""
    token: Literal["USDC"]
    """The token to pay with."""
    status: Union[Literal["pending", "confirmed", "expired", "failed"], str]
    """The state of the intent."""
    paidAmount: float
    """The amount paid so far. The unit is USDC, with at most six decimals."""
    signature: Union[str, None]
    """The signature of the transaction that completed the payment. Null until the intent is confirmed."""
    confirmedAt: Union[str, None]
    """The time at which the intent became `confirmed`. Null until then."""
    payments: list[PurchasePayment]
    """The payments of the intent, oldest first. At most 1,000 are listed."""
    createdAt: str
    """The time of the creation."""
    expiresAt: str
    """The time at which the intent expires, unless it is paid in full before."""


class PurchasePayment(TypedDict):
    signature: str
    """The signature of the transaction."""
    amount: float
    """The amount of this payment. The unit is USDC, with at most six decimals."""
    at: str
    """The time at which the payment was recorded."""


class Key(TypedDict):
    keyId: str
    """The id of the key. Send it in `X-SVC-Key`."""
    scopes: list[Union[Literal["read", "spend", "settings"], str]]
    """The scopes of the key. `read`: all reads, and quotes. `spend`: creations, cancels and purchase intents. `settings`: all other changes, such as of settings, webhooks and keys."""
    addresses: list[str]
    """The CIDR blocks that requests must come from. If empty, any address is allowed."""
    createdAt: str
    """The time of the creation."""
    expiresAt: Union[str, None]
    """The time at which the key expires. Null if it never expires."""
    lastUsedAt: Union[str, None]
    """The minute of the last use. Null if no use is known."""


class KeyList(TypedDict):
    data: list[Key]
    """The items, newest first."""


class KeyRequest(TypedDict, total=False):
    scopes: list[Literal["read", "spend", "settings"]]
    """The scopes of the key. `read`: all reads, and quotes. `spend`: creations, cancels and purchase intents. `settings`: all other changes, such as of settings, webhooks and keys."""
    addresses: list[str]
    """The CIDR blocks that requests must come from. If empty, any address is allowed."""
    expiresInDays: int
    """The days until the key expires. If omitted, the key never expires."""


class KeyCreated(TypedDict):
    keyId: str
    """The id of the key. Send it in `X-SVC-Key`."""
    scopes: list[Union[Literal["read", "spend", "settings"], str]]
    """The scopes of the key. `read`: all reads, and quotes. `spend`: creations, cancels and purchase intents. `settings`: all other changes, such as of settings, webhooks and keys."""
    addresses: list[str]
    """The CIDR blocks that requests must come from. If empty, any address is allowed."""
    createdAt: str
    """The time of the creation."""
    expiresAt: Union[str, None]
    """The time at which the key expires. Null if it never expires."""
    lastUsedAt: Union[str, None]
    """The minute of the last use. Null if no use is known."""
    hmacSecret: str
    """The secret with which you sign requests. It is shown only once."""


class ChangeAuthor(TypedDict, total=False):
    keyId: Union[str, None]
    """The id of the key that signed the request for the change. Null if no key is recorded."""
    operator: str
    """The id of the operator. `local` if a program of the service made the change without the key of an operator."""


class AuditEntry(TypedDict):
    what: Union[Literal["settings.updated", "secret.rotated", "key.created", "key.deleted", "endpoint.created", "endpoint.updated", "endpoint.deleted", "endpoint.secret_rotated"], str]
    """The change, such as `settings.updated`."""
    by: ChangeAuthor
    """Who made the change."""
    at: str
    """The time of the change."""
    before: Union[dict[str, Any], None]
    """The values before the change. For settings: those that the change names. For an endpoint: `endpointId`, `kind`, `url`, `events` and `description`. For a key: `keyId`, `scopes`, `addresses` and `expiresAt`. For a rotated secret of a webhook endpoint: the id of the endpoint. For any other rotated secret: the number of valid secrets of its kind. Null for a creation."""
    after: Union[dict[str, Any], None]
    """The values after the change. For settings: those that the change names. For an endpoint or key: the members that the description of `before` names. For a rotated secret: members such as `overlapMs` (the milliseconds for which the previous secret stays valid). Null for a deletion."""
    requestId: Union[str, None]
    """The id of the request, or of the command of the operator, that made the change. Null if the service made it by itself."""


class AuditPage(TypedDict):
    data: list[AuditEntry]
    """The items, newest first."""
    nextCursor: Union[str, None]
    """Pass it as `cursor` to get the next page. Null on the last page."""


class AtsApplicationPayloadJobContext(TypedDict):
    title: str
    """The title of the advertised job."""
    company: str
    """The employer."""


class AtsApplicationPayload(TypedDict):
    applicationUrl: str
    """The URL of the application page: http or https, with a public host and without credentials."""
    atsType: str
    """The kind of the site, as a hint. In the sandbox it selects what the simulated node does."""
    applicantProfile: dict[str, Any]
    """The applicant. The profile may nest at most 64 levels deep. The service passes it on as sent. `/docs/applicant-profile` describes how nodes read it."""
    jobContext: AtsApplicationPayloadJobContext
    """The advertised job. Further members are allowed."""


class ListSubmissionsQuery(TypedDict, total=False):
    status: Literal["pending", "dispatched", "running", "submitted", "failed", "cancelled"]
    """Only items with this status."""
    idempotencyKey: str
    """Only the submission with this key."""
    createdAfter: str
    """Only submissions created at this time or later."""
    createdBefore: str
    """Only submissions created before this time."""
    limit: int
    """The most items on a page."""
    cursor: str
    """`nextCursor` of the previous page."""


class ListTransactionsQuery(TypedDict, total=False):
    type: Literal["grant", "hold", "charge", "release", "rebate", "reversal"]
    """Only movements of this kind."""
    submissionId: str
    """Only movements of this submission."""
    limit: int
    """The most items on a page."""
    cursor: str
    """`nextCursor` of the previous page."""


class AwaitPurchaseIntentQuery(TypedDict, total=False):
    timeoutSeconds: int
    """The most seconds to wait for the payment. Default: 30."""


class ListDeliveriesQuery(TypedDict, total=False):
    status: Literal["pending", "delivered", "exhausted", "dropped"]
    """Only items with this status."""
    limit: int
    """The most items on a page."""
    cursor: str
    """`nextCursor` of the previous page."""


class ListAuditQuery(TypedDict, total=False):
    limit: int
    """The most items on a page."""
    cursor: str
    """`nextCursor` of the previous page."""


class PollWebhookEventsQuery(TypedDict, total=False):
    after: str
    """`nextCursor` of the previous page."""
    limit: int
    """The most items on a page."""
    waitSeconds: int
    """The most seconds to wait for an event if there is none. Default: 0."""


class SubmissionCompletedEventData(TypedDict):
    submissionId: str
    """The id of the submission."""
    jobType: str
    """The type of the job."""
    tier: Union[Literal["standard", "priority", "instant"], str]
    """The tier: how soon the job runs, and at which price."""
    actualCredits: float
    """The charged credits. Null until the submission has ended. The unit is credits, with at most six decimals."""
    refundedCredits: float
    """The released credits. Null until the submission has ended. The unit is credits, with at most six decimals."""
    status: Literal["submitted"]
    """The state of the submission."""


class SubmissionCompletedEvent(TypedDict):
    id: str
    """The id of the event."""
    timestamp: str
    """The time of the event. An RFC 3339 time in UTC with milliseconds."""
    type: Literal["submission.completed"]
    """The type of the event."""
    data: SubmissionCompletedEventData
    """The facts of the event."""


class SubmissionFailedEventDataFailure(TypedDict):
    code: str
    """The reason as a code. Decide by `retriable` and `outcomeUnknown`, not by the code, whether to repeat the job."""
    message: str
    """The reason, for people."""
    retriable: bool
    """True if the same job may succeed with a new idempotency key."""
    outcomeUnknown: bool
    """True if the job may have been done. Check if it was done before you repeat it."""


class SubmissionFailedEventData(TypedDict):
    submissionId: str
    """The id of the submission."""
    jobType: str
    """The type of the job."""
    tier: Union[Literal["standard", "priority", "instant"], str]
    """The tier: how soon the job runs, and at which price."""
    actualCredits: float
    """The charged credits. Null until the submission has ended. The unit is credits, with at most six decimals."""
    refundedCredits: float
    """The released credits. Null until the submission has ended. The unit is credits, with at most six decimals."""
    status: Literal["failed"]
    """The submission failed."""
    failure: SubmissionFailedEventDataFailure
    """Why the submission failed. Null if it did not."""


class SubmissionFailedEvent(TypedDict):
    id: str
    """The id of the event."""
    timestamp: str
    """The time of the event. An RFC 3339 time in UTC with milliseconds."""
    type: Literal["submission.failed"]
    """The type of the event."""
    data: SubmissionFailedEventData
    """The facts of the event."""


class SubmissionCancelledEventData(TypedDict):
    submissionId: str
    """The id of the submission."""
    jobType: str
    """The type of the job."""
    tier: Union[Literal["standard", "priority", "instant"], str]
    """The tier: how soon the job runs, and at which price."""
    actualCredits: float
    """The charged credits. Null until the submission has ended. The unit is credits, with at most six decimals."""
    refundedCredits: float
    """The released credits. Null until the submission has ended. The unit is credits, with at most six decimals."""
    status: Literal["cancelled"]
    """The submission was cancelled."""
    by: Union[Literal["tenant", "operator"], str]
    """Who cancelled the submission."""


class SubmissionCancelledEvent(TypedDict):
    id: str
    """The id of the event."""
    timestamp: str
    """The time of the event. An RFC 3339 time in UTC with milliseconds."""
    type: Literal["submission.cancelled"]
    """The type of the event."""
    data: SubmissionCancelledEventData
    """The facts of the event."""


class SubmissionLateOutcomeEventData(TypedDict):
    submissionId: str
    """The id of the submission."""
    status: Union[Literal["submitted", "failed"], str]
    """The outcome that the node reported."""
    at: str
    """The time at which the node reported the outcome. An RFC 3339 time in UTC with milliseconds."""


class SubmissionLateOutcomeEvent(TypedDict):
    id: str
    """The id of the event."""
    timestamp: str
    """The time of the event. An RFC 3339 time in UTC with milliseconds."""
    type: Literal["submission.late_outcome"]
    """The type of the event."""
    data: SubmissionLateOutcomeEventData
    """The facts of the event."""


class CreditsLowBalanceEventData(TypedDict):
    balance: float
    """All credits, the held ones included. The unit is credits, with at most six decimals."""
    available: float
    """`balance - held`. The unit is credits, with at most six decimals."""
    held: float
    """The held credits. The unit is credits, with at most six decimals."""
    threshold: float
    """The balance is below this threshold. The unit is credits, with at most six decimals."""


class CreditsLowBalanceEvent(TypedDict):
    id: str
    """The id of the event."""
    timestamp: str
    """The time of the event. An RFC 3339 time in UTC with milliseconds."""
    type: Literal["credits.low_balance"]
    """The type of the event."""
    data: CreditsLowBalanceEventData
    """The facts of the event."""


class CreditsPurchasedEventData(TypedDict):
    reference: str
    """The purchase intent that was paid. The value is the `reference` of the intent."""
    credits: float
    """The credits of the purchase. The unit is credits, with at most six decimals."""
    paidAmount: float
    """The amount paid so far. The unit is USDC, with at most six decimals."""
    signature: str
    """The signature of the transaction that completed the payment. Null until the intent is confirmed. Never null in this event."""


class CreditsPurchasedEvent(TypedDict):
    id: str
    """The id of the event."""
    timestamp: str
    """The time of the event. An RFC 3339 time in UTC with milliseconds."""
    type: Literal["credits.purchased"]
    """The type of the event."""
    data: CreditsPurchasedEventData
    """The facts of the event."""


class SettingsChangedEventDataByKeyId(TypedDict):
    keyId: Union[str, None]
    """The id of the key that signed the request for the change. Null if no key is recorded."""


class SettingsChangedEventDataByOperator(TypedDict):
    operator: str
    """The id of the operator. `local` if a program of the service made the change without the key of an operator."""


class SettingsChangedEventData(TypedDict):
    what: str
    """The change, such as `settings.updated`. More values may be added."""
    by: Union[SettingsChangedEventDataByKeyId, SettingsChangedEventDataByOperator]
    """Who made the change: a tenant key or an operator."""
    at: str
    """The time of the change. An RFC 3339 time in UTC with milliseconds."""


class SettingsChangedEvent(TypedDict):
    id: str
    """The id of the event."""
    timestamp: str
    """The time of the event. An RFC 3339 time in UTC with milliseconds."""
    type: Literal["settings.changed"]
    """The type of the event."""
    data: SettingsChangedEventData
    """The facts of the event."""


class WebhookTestEvent(TypedDict):
    id: str
    """The id of the event."""
    timestamp: str
    """The time of the event. An RFC 3339 time in UTC with milliseconds."""
    type: Literal["webhook.test"]
    """The type of the event."""
    data: dict[str, Any]
    """The facts of the event."""


WebhookEvent = Union[
    SubmissionCompletedEvent,
    SubmissionFailedEvent,
    SubmissionCancelledEvent,
    SubmissionLateOutcomeEvent,
    CreditsLowBalanceEvent,
    CreditsPurchasedEvent,
    SettingsChangedEvent,
    WebhookTestEvent,
]
"""Every known event. The service may add event types: acknowledge and ignore those you do not know."""
