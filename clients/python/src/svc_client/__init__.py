"""The client library of the submission service for Python."""

from ._steps import CallOptions, request_id_of
from ._version import __version__
from .client import Client, Pages
from .errors import (
    UNRECOGNISED_ANSWER,
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    InsufficientCreditsError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    SvcError,
    ValidationError,
    WaitTimeoutError,
    WebhookVerificationError,
)
from .webhooks import VerifiedWebhook, verify_webhook

__all__ = [
    "UNRECOGNISED_ANSWER",
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "AuthenticationError",
    "BadRequestError",
    "CallOptions",
    "Client",
    "ConflictError",
    "InsufficientCreditsError",
    "NotFoundError",
    "Pages",
    "PermissionDeniedError",
    "RateLimitError",
    "ServerError",
    "SvcError",
    "ValidationError",
    "VerifiedWebhook",
    "WaitTimeoutError",
    "WebhookVerificationError",
    "__version__",
    "request_id_of",
    "verify_webhook",
]
