"""The errors of this library: one class for each family of statuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNRECOGNISED_ANSWER = "unrecognised_answer"
"""The ``code`` of an answer that is not from the service, for example from a proxy."""


class SvcError(Exception):
    """Every error of this library."""


class ApiError(SvcError):
    """The service answered with an error.

    Decide by ``code``. Quote ``request_id`` when you ask for support. ``problem`` is the body of
    the error (RFC 9457). It is empty if the answer is not from the service.
    """

    def __init__(self, status: int, request_id: str | None, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = problem
        self.code: str = problem.get("code", UNRECOGNISED_ANSWER)
        fallback = problem.get("title", "The answer does not come from the service.")
        self.detail: str = problem.get("detail", fallback)
        self.request_id: str | None = problem.get("requestId", request_id)
        super().__init__(f"{status} {self.code}: {self.detail}")


class BadRequestError(ApiError):
    """400, 405, 408, 413, 415 and 431: the request itself is wrong."""


class AuthenticationError(ApiError):
    """401: the signature, the credentials or the clock."""


class InsufficientCreditsError(ApiError):
    """402. ``problem["required"]`` is the amount that the submission would have held."""


class PermissionDeniedError(ApiError):
    """403."""


class NotFoundError(ApiError):
    """404."""


class ConflictError(ApiError):
    """409."""


class ValidationError(ApiError):
    """422. ``problem["errors"]`` lists the violations."""


class RateLimitError(ApiError):
    """429. ``problem["retryAfterSeconds"]`` says when to repeat the call."""


class ServerError(ApiError):
    """5xx. The outcome of a creation may be unknown: repeat it with the same key."""


class ApiConnectionError(SvcError):
    """No complete answer arrived. The outcome of the call is unknown."""


class ApiTimeoutError(ApiConnectionError):
    """No complete answer arrived in time."""


class WaitTimeoutError(SvcError):
    """``wait_for`` reached its timeout. The submission continues.

    ``last`` is its last known state.
    """

    def __init__(self, submission_id: str, timeout: float, last: Mapping[str, Any] | None) -> None:
        self.last = last
        super().__init__(f"The end of {submission_id} was not seen within {timeout} s.")


class WebhookVerificationError(SvcError):
    """The webhook cannot be trusted. Answer 400 or 401 and do not act on it."""


_CLASSES: dict[int, type[ApiError]] = {
    401: AuthenticationError,
    402: InsufficientCreditsError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    422: ValidationError,
    429: RateLimitError,
}


def api_error(status: int, request_id: str | None, problem: Mapping[str, Any]) -> ApiError:
    """The error of an answer, in the class of its status."""
    other = ServerError if status >= 500 else BadRequestError if status >= 400 else ApiError
    return _CLASSES.get(status, other)(status, request_id, problem)
