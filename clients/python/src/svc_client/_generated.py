"""The requests, answers and events of the service.

Generated from the OpenAPI document by `pnpm openapi:freeze`: do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union

__all__ = [
    "AtsApplicationPayload",
    "AtsApplicationPayloadJobContext",
    "AwaitPurchaseIntentQuery",
    "Balance",
    "CancelAnswer",
    "CreditsLowBalanceEvent",
    "CreditsLowBalanceEventData",
    "Delivery",
    "DeliveryAttempt",
    "DeliveryPage",
    "DeliveryQueued",
    "JobResult",
    "ListDeliveriesQuery",
    "ListSubmissionsQuery",
    "ListTransactionsQuery",
    "NotReady",
    "Problem",
    "ProblemError",
    "Quote",
    "QuoteAnswer",
    "QuoteRequest",
    "Rate",
    "RateCard",
    "RateCardJobTypes",
    "RateCardJobTypesTiers",
    "Ready",
    "Refund",
    "Settings",
    "SettingsChange",
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
    "WebhookEvent",
    "WebhookTestEvent",
]


class _ProblemRequired(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    code: Union[Literal["bad_request", "unauthenticated", "insufficient_credits", "job_type_not_allowed", "operator_only", "not_found", "method_not_allowed", "request_timeout", "idempotency_key_conflict", "terminal_state", "solana_disabled", "intent_expired", "intent_failed", "reference_conflict", "webhook_url_missing", "delivery_in_progress", "payload_too_large", "unsupported_media_type", "misdirected_request", "validation_error", "unknown_job_type", "unknown_tier", "quote_failed", "rate_limited", "headers_too_large", "internal_error", "dispatch_unavailable", "unavailable"], str]
    requestId: str


class Problem(_ProblemRequired, total=False):
    required: float
    """Credits, at most six decimals."""
    errors: list[ProblemError]
    submissionId: str
    submissionStatus: Union[Literal["pending", "dispatched", "running", "submitted", "failed", "cancelled"], str]
    refund: Refund
    retryAfterSeconds: int


class _ProblemErrorRequired(TypedDict):
    path: str
    message: str
    keyword: str


class ProblemError(_ProblemErrorRequired, total=False):
    parameter: str


class Quote(TypedDict):
    estimated: float
    """Credits, at most six decimals."""
    max: float
    """Credits, at most six decimals."""
    surge: float


class Refund(TypedDict):
    amount: float
    """Credits, at most six decimals."""
    charged: float
    """Credits, at most six decimals."""


class Usage(TypedDict, total=False):
    nodeSeconds: float
    cpuSeconds: float
    memoryGbSeconds: float
    bandwidthMb: float
    actions: float


class Balance(TypedDict):
    balance: float
    """Credits, at most six decimals."""
    held: float
    """Credits, at most six decimals."""
    available: float
    """Credits, at most six decimals."""
    rebateAccrued: float
    """Credits, at most six decimals."""
    currency: Literal["credits"]
    usdPerCredit: float


class RateCardJobTypesTiers(TypedDict, total=False):
    standard: Rate
    priority: Rate
    instant: Rate


class RateCardJobTypes(TypedDict):
    jobType: str
    tiers: RateCardJobTypesTiers


class RateCard(TypedDict):
    version: int
    surgeMultiplier: float
    usdPerCredit: float
    jobTypes: list[RateCardJobTypes]


class Rate(TypedDict):
    base: float
    """Credits, at most six decimals."""
    min: float
    """Credits, at most six decimals."""
    max: float
    """Credits, at most six decimals."""
    tierMultiplier: float
    weights: Usage


class Ready(TypedDict):
    status: Literal["ready"]


class NotReady(TypedDict):
    status: Literal["not_ready"]
    missing: list[str]


class _SubmissionRequestRequired(TypedDict):
    idempotencyKey: str
    jobType: str
    payload: AtsApplicationPayload


class SubmissionRequest(_SubmissionRequestRequired, total=False):
    tier: str


class SubmissionCreatedBalance(TypedDict):
    after: float
    """Credits, at most six decimals."""
    held: float
    """Credits, at most six decimals."""


class _SubmissionCreatedRequired(TypedDict):
    submissionId: str
    status: Literal["dispatched"]
    quote: Quote
    balance: SubmissionCreatedBalance


class SubmissionCreated(_SubmissionCreatedRequired, total=False):
    idempotent: Literal[True]


class SubmissionLateOutcome(TypedDict):
    status: Union[Literal["submitted", "failed"], str]
    at: str


class Submission(TypedDict):
    id: str
    status: Union[Literal["pending", "dispatched", "running", "submitted", "failed", "cancelled"], str]
    jobType: str
    tier: Union[Literal["standard", "priority", "instant"], str]
    idempotencyKey: str
    quote: Quote
    actualCredits: Union[float, None]
    refundedCredits: Union[float, None]
    usage: Usage
    failure: Union[SubmissionFailure, None]
    result: Union[JobResult, None]
    lateOutcome: Union[SubmissionLateOutcome, None]
    createdAt: str
    dispatchedAt: Union[str, None]
    startedAt: Union[str, None]
    finishedAt: Union[str, None]


class SubmissionPage(TypedDict):
    data: list[Submission]
    nextCursor: Union[str, None]


class SubmissionFailure(TypedDict):
    code: Union[Literal["ats_rejected", "posting_closed", "form_unsupported", "login_required", "captcha", "site_unreachable", "invalid_payload", "node_error", "node_lost", "not_started", "deadline_exceeded"], str]
    message: str
    retriable: bool
    outcomeUnknown: bool


class JobResult(TypedDict, total=False):
    confirmationId: str
    confirmationUrl: str
    details: dict[str, Any]


class CancelAnswer(TypedDict):
    submissionId: str
    status: Literal["cancelled"]
    refund: Refund


class _QuoteRequestRequired(TypedDict):
    jobType: str
    payload: AtsApplicationPayload


class QuoteRequest(_QuoteRequestRequired, total=False):
    tier: str


class QuoteAnswer(TypedDict):
    quote: Quote
    sufficient: bool
    available: float
    """Credits, at most six decimals."""


class Transaction(TypedDict):
    id: str
    type: Union[Literal["grant", "hold", "charge", "release", "rebate", "reversal"], str]
    amount: float
    """Credits, at most six decimals."""
    balanceAfter: float
    """Credits, at most six decimals."""
    heldAfter: float
    """Credits, at most six decimals."""
    availableAfter: float
    """Credits, at most six decimals."""
    submissionId: Union[str, None]
    reference: Union[str, None]
    createdAt: str


class TransactionPage(TypedDict):
    data: list[Transaction]
    nextCursor: Union[str, None]


class Delivery(TypedDict):
    id: str
    eventId: str
    type: Union[Literal["submission.completed", "submission.failed", "submission.cancelled", "submission.late_outcome", "credits.low_balance", "webhook.test"], str]
    status: Union[Literal["pending", "delivered", "exhausted", "dropped"], str]
    attempts: list[DeliveryAttempt]
    nextAttemptAt: Union[str, None]
    createdAt: str


class DeliveryAttempt(TypedDict):
    number: int
    at: str
    statusCode: Union[int, None]
    durationMs: Union[int, None]
    error: Union[str, None]
    response: Union[str, None]


class DeliveryPage(TypedDict):
    data: list[Delivery]
    nextCursor: Union[str, None]


class DeliveryQueued(TypedDict):
    deliveryId: str


class SettingsWebhookDisabled(TypedDict):
    at: str
    reason: str


class Settings(TypedDict):
    webhookUrl: Union[str, None]
    lowBalanceThreshold: float
    """Credits, at most six decimals."""
    webhookDisabled: Union[SettingsWebhookDisabled, None]
    allowedJobTypes: list[str]
    tenantId: str
    environment: Union[Literal["sandbox", "production"], str]


class SettingsChange(TypedDict, total=False):
    webhookUrl: Union[str, None]
    lowBalanceThreshold: float


class AtsApplicationPayloadJobContext(TypedDict):
    title: str
    company: str


class AtsApplicationPayload(TypedDict):
    applicationUrl: str
    atsType: str
    applicantProfile: dict[str, Any]
    """Passed on as sent; at most 64 levels deep. Nodes read it as described at `/docs/applicant-profile`."""
    jobContext: AtsApplicationPayloadJobContext


class ListSubmissionsQuery(TypedDict, total=False):
    status: Literal["pending", "dispatched", "running", "submitted", "failed", "cancelled"]
    idempotencyKey: str
    createdAfter: str
    createdBefore: str
    limit: int
    cursor: str
    """`nextCursor` of the previous page."""


class ListTransactionsQuery(TypedDict, total=False):
    type: Literal["grant", "hold", "charge", "release", "rebate", "reversal"]
    submissionId: str
    limit: int
    cursor: str
    """`nextCursor` of the previous page."""


class AwaitPurchaseIntentQuery(TypedDict, total=False):
    timeoutSeconds: int


class ListDeliveriesQuery(TypedDict, total=False):
    status: Literal["pending", "delivered", "exhausted", "dropped"]
    limit: int
    cursor: str
    """`nextCursor` of the previous page."""


class SubmissionCompletedEventData(TypedDict):
    submissionId: str
    jobType: str
    tier: Union[Literal["standard"], Literal["priority"], Literal["instant"]]
    actualCredits: float
    """Credits, with at most six decimals"""
    refundedCredits: float
    """Credits, with at most six decimals"""
    status: Literal["submitted"]


class SubmissionCompletedEvent(TypedDict):
    id: str
    timestamp: str
    """RFC 3339, UTC, with milliseconds"""
    type: Literal["submission.completed"]
    data: SubmissionCompletedEventData


class SubmissionFailedEventDataFailure(TypedDict):
    code: str
    message: str
    retriable: bool
    outcomeUnknown: bool


class SubmissionFailedEventData(TypedDict):
    submissionId: str
    jobType: str
    tier: Union[Literal["standard"], Literal["priority"], Literal["instant"]]
    actualCredits: float
    """Credits, with at most six decimals"""
    refundedCredits: float
    """Credits, with at most six decimals"""
    status: Literal["failed"]
    failure: SubmissionFailedEventDataFailure


class SubmissionFailedEvent(TypedDict):
    id: str
    timestamp: str
    """RFC 3339, UTC, with milliseconds"""
    type: Literal["submission.failed"]
    data: SubmissionFailedEventData


class SubmissionCancelledEventData(TypedDict):
    submissionId: str
    jobType: str
    tier: Union[Literal["standard"], Literal["priority"], Literal["instant"]]
    actualCredits: float
    """Credits, with at most six decimals"""
    refundedCredits: float
    """Credits, with at most six decimals"""
    status: Literal["cancelled"]
    by: Union[Literal["tenant"], Literal["operator"]]


class SubmissionCancelledEvent(TypedDict):
    id: str
    timestamp: str
    """RFC 3339, UTC, with milliseconds"""
    type: Literal["submission.cancelled"]
    data: SubmissionCancelledEventData


class SubmissionLateOutcomeEventData(TypedDict):
    submissionId: str
    status: Union[Literal["submitted"], Literal["failed"]]
    at: str
    """RFC 3339, UTC, with milliseconds"""


class SubmissionLateOutcomeEvent(TypedDict):
    id: str
    timestamp: str
    """RFC 3339, UTC, with milliseconds"""
    type: Literal["submission.late_outcome"]
    data: SubmissionLateOutcomeEventData


class CreditsLowBalanceEventData(TypedDict):
    balance: float
    """Credits, with at most six decimals"""
    available: float
    """Credits, with at most six decimals"""
    held: float
    """Credits, with at most six decimals"""
    threshold: float
    """Credits, with at most six decimals"""


class CreditsLowBalanceEvent(TypedDict):
    id: str
    timestamp: str
    """RFC 3339, UTC, with milliseconds"""
    type: Literal["credits.low_balance"]
    data: CreditsLowBalanceEventData


class WebhookTestEvent(TypedDict):
    id: str
    timestamp: str
    """RFC 3339, UTC, with milliseconds"""
    type: Literal["webhook.test"]
    data: dict[str, Any]


WebhookEvent = Union[
    SubmissionCompletedEvent,
    SubmissionFailedEvent,
    SubmissionCancelledEvent,
    SubmissionLateOutcomeEvent,
    CreditsLowBalanceEvent,
    WebhookTestEvent,
]
"""Every known event. The service may add types: acknowledge and ignore those you do not know."""
