"""What a call does, step by step, without a network and without a clock of its own.

``call_steps`` yields requests and pauses. A client carries them out and sends the answers back. The
clients with and without ``async`` therefore behave alike.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import random
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypedDict, TypeVar, Union, cast
from urllib.parse import urlsplit

from ._version import __version__
from .errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    WaitTimeoutError,
    api_error,
)

T = TypeVar("T")

USER_AGENT = f"svc-client-python/{__version__}"
# An answer with more bytes is not read. The answers of the service are smaller.
ANSWER_BYTES_MAX = 16 * 1024 * 1024
TEMPORARY_STATUSES = (408, 429, 500, 502, 503, 504)
_FIRST_PAUSE = 0.5
_PAUSE_MAX = 8.0
# If the service asks for a longer pause, the error is reported instead.
_ASKED_PAUSE_MAX = 60.0
# Both clocks are read in whole seconds, and the service allows a difference of 300 s.
_CLOCK_DIFFERENCE_MIN = 298.0
_POLL_FIRST = 0.25
_POLL_GROWTH = 1.5
_POLL_MAX = 2.0


class CallOptions(TypedDict, total=False):
    """Options of one call. ``timeout`` limits the whole call with its repeats, in seconds."""

    timeout: float | None
    max_retries: int | None
    retry_dispatch_unavailable: bool | None


@dataclass(frozen=True)
class Request:
    """A step: send this request. The answer is an ``Answer`` or an ``ApiConnectionError``."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None
    timeout: float
    is_repeatable: bool


@dataclass(frozen=True)
class Pause:
    """A step: wait."""

    seconds: float


@dataclass(frozen=True)
class Answer:
    """A complete answer of the service or of a proxy. Names of headers are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Sent = Union[Answer, ApiConnectionError, None]
Steps = Generator[Union[Request, Pause], Sent, T]


class Received(dict[str, Any]):
    """A JSON object of the service, with the id of its request."""

    request_id: str | None = None


def request_id_of(answer: Mapping[str, Any]) -> str | None:
    """The request id of an answer that a method of the client returned."""
    return getattr(answer, "request_id", None)


@dataclass(frozen=True)
class Call(Generic[T]):
    """One operation: its request, whether it may be repeated, and how its answer is recognised."""

    method: str
    path: str
    member: str
    body: object = None
    is_repeatable: bool = True
    # True if it needs no signature, and its answer may have any status.
    is_open: bool = False
    # The time that the service may wait on purpose before it answers, in seconds.
    wait: float = 0.0
    is_text: bool = False
    is_cancel: bool = False
    # The result of a deletion, whose answer has no body.
    deleted: Mapping[str, Any] | None = None


class Settings:
    """What all calls of a client share."""

    def __init__(
        self,
        base_url: str,
        tenant_id: str,
        secret: str,
        key_id: str | None,
        max_retries: int,
        retry_dispatch_unavailable: bool,
        request_timeout: float,
        now: Callable[[], float] | None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.base_path = urlsplit(self.base_url).path
        self.tenant_id = tenant_id
        self.key = secret.encode()
        self.key_id = key_id
        self.max_retries = max_retries
        self.retry_dispatch_unavailable = retry_dispatch_unavailable
        self.request_timeout = request_timeout
        self.now = now or time.time
        self.elapsed = now or time.monotonic
        # The clock of the service minus the local clock in seconds, once the service has told it.
        self.clock_offset = 0.0


def _json_object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _error_of(answer: Answer) -> ApiError:
    problem = _json_object(answer.body) if answer.status >= 400 else None
    is_problem = problem is not None and isinstance(problem.get("code"), str)
    request_id = answer.headers.get("x-request-id")
    return api_error(answer.status, request_id, problem if is_problem and problem else {})


def _result_of(call: Call[T], answer: Answer) -> T | None:
    if not (200 <= answer.status < 300 or call.is_open):
        return None
    if call.deleted is not None:
        request_id = answer.headers.get("x-request-id")
        return cast(T, _received(call.deleted, request_id)) if answer.body == b"" else None
    if call.is_text:
        text = answer.body.decode("utf-8", "replace")
        return cast(T, text) if call.member in text else None
    value = _json_object(answer.body)
    if value is None or call.member not in value:
        return None
    if call.is_open and value[call.member] not in ("ready", "not_ready"):
        return None
    return cast(T, _received(value, answer.headers.get("x-request-id")))


def _received(value: Mapping[str, Any], request_id: str | None) -> Any:
    received = Received(value)
    received.request_id = request_id
    return received


def _earlier_cancel(error: ApiError) -> Any | None:
    """If the answer of a cancel was lost, its repeat is refused with the same refund."""
    problem = error.problem
    if error.code != "terminal_state" or problem.get("submissionStatus") != "cancelled":
        return None
    if "submissionId" not in problem or "refund" not in problem:
        return None
    value = {
        "submissionId": problem["submissionId"],
        "status": "cancelled",
        "refund": problem["refund"],
    }
    return _received(value, error.request_id)


def _signed_request(settings: Settings, call: Call[T], timeout: float) -> Request:
    body = None
    headers = {"accept": "application/json", "user-agent": USER_AGENT}
    if call.body is not None:
        body = json.dumps(call.body, ensure_ascii=False, separators=(",", ":")).encode()
        headers["content-type"] = "application/json"
    target = settings.base_path + call.path
    if not call.is_open:
        timestamp = str(math.floor(settings.now() + settings.clock_offset))
        headers["X-SVC-Tenant"] = settings.tenant_id
        if settings.key_id is not None:
            headers["X-SVC-Key"] = settings.key_id
        headers["X-SVC-Timestamp"] = timestamp
        headers["X-SVC-Signature"] = sign(settings.key, timestamp, call.method, target, body or b"")
    return Request(call.method, target, headers, body, timeout, call.is_repeatable)


def sign(key: bytes, timestamp: str, method: str, target: str, body: bytes) -> str:
    """The value of ``X-SVC-Signature``."""
    lines = ["SVC1-HMAC-SHA256", timestamp, method, target, hashlib.sha256(body).hexdigest()]
    return "v1=" + hmac.new(key, "\n".join(lines).encode(), hashlib.sha256).hexdigest()


def _http_date(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text or "").timestamp()
    except (TypeError, ValueError):
        return None


def _offset_from(answer: Answer, error: ApiError, now: float) -> float | None:
    """The service's clock minus the local clock. None if the timestamp was not refused."""
    date = _http_date(answer.headers.get("date"))
    if error.status != 401 or "X-SVC-Timestamp" not in error.detail or date is None:
        return None
    return date - now


def _asked_pause(error: ApiError, answer: Answer) -> float | None:
    header = answer.headers.get("retry-after", "")
    if header.isascii() and header.isdigit():
        return float(header)
    until = _http_date(header)
    if until is not None:
        # The clock of the answer tells how long the pause is, whatever the local clock says.
        start = _http_date(answer.headers.get("date"))
        return max(0.0, until - (time.time() if start is None else start))
    asked = error.problem.get("retryAfterSeconds")
    return float(asked) if isinstance(asked, (int, float)) else None


def _retry_pause(
    error: ApiError | ApiConnectionError,
    answer: Answer | None,
    retries: int,
    retry_dispatch_unavailable: bool,
) -> float | None:
    """The pause before the next attempt in seconds. None if the error is not temporary."""
    if isinstance(error, ApiError):
        if error.status not in TEMPORARY_STATUSES:
            return None
        if error.code == "dispatch_unavailable" and not retry_dispatch_unavailable:
            return None
        asked = None if answer is None else _asked_pause(error, answer)
        if asked is not None:
            return asked if asked <= _ASKED_PAUSE_MAX else None
    whole = min(_FIRST_PAUSE * 2.0**retries, _PAUSE_MAX)
    return whole * (1 - random.random() / 2)


def call_steps(settings: Settings, call: Call[T], options: CallOptions) -> Steps[T]:
    """Makes a call, and repeats it after temporary errors. Raises the last error."""
    timeout = _or(options.get("timeout"), math.inf)
    max_retries = _or(options.get("max_retries"), settings.max_retries)
    retry_dispatch = _or(
        options.get("retry_dispatch_unavailable"), settings.retry_dispatch_unavailable
    )
    start = settings.elapsed()
    attempt_timeout = settings.request_timeout + call.wait
    offset_before = settings.clock_offset
    may_correct_clock = True
    retries = 0
    while True:
        left = timeout - (settings.elapsed() - start)
        used_offset = settings.clock_offset
        sent = yield _signed_request(settings, call, max(0.001, min(attempt_timeout, left)))
        answer = sent if isinstance(sent, Answer) else None
        error: ApiError | ApiConnectionError
        if answer is not None:
            result = _result_of(call, answer)
            if result is not None:
                return result
            error = _error_of(answer)
            if call.is_cancel and retries > 0:
                earlier = _earlier_cancel(error)
                if earlier is not None:
                    return cast(T, earlier)
            if call.deleted is not None and retries > 0 and error.code == "not_found":
                # The answer of the deletion was lost, and its repeat finds nothing.
                return cast(T, _received(call.deleted, error.request_id))
            offset = _offset_from(answer, error, settings.now())
            if offset is not None:
                has_difference = abs(offset - used_offset) > _CLOCK_DIFFERENCE_MIN
                if may_correct_clock and has_difference:
                    may_correct_clock = False
                    settings.clock_offset = offset
                    continue
                if not may_correct_clock:
                    # The corrected clock was refused as well, so it is not kept.
                    settings.clock_offset = offset_before
        else:
            error = cast(ApiConnectionError, sent)
        pause = _retry_pause(error, answer, retries, retry_dispatch)
        spent = settings.elapsed() - start
        is_last = not call.is_repeatable or retries >= max_retries or pause is None
        if is_last or pause is None or spent + pause >= timeout:
            raise error
        yield Pause(pause)
        retries += 1


V = TypeVar("V")


def _or(value: V | None, default: V) -> V:
    return default if value is None else value


def wait_steps(settings: Settings, call: Call[T], submission_id: str, timeout: float) -> Steps[T]:
    """Polls until the submission has ended, and continues after temporary errors."""
    deadline = settings.elapsed() + timeout
    pause = _POLL_FIRST
    last: Mapping[str, Any] | None = None
    while True:
        cause: Exception | None = None
        try:
            left = max(0.001, deadline - settings.elapsed())
            found = yield from call_steps(settings, call, {"timeout": left, "max_retries": 0})
            last = cast(Mapping[str, Any], found)
            if last["status"] in ("submitted", "failed", "cancelled"):
                return found
        except ApiError as error:
            if error.status not in TEMPORARY_STATUSES:
                raise
            cause = error
        except ApiConnectionError as error:
            cause = error
        asked = cause.problem.get("retryAfterSeconds", 0) if isinstance(cause, ApiError) else 0
        wait = max(pause, float(asked))
        if settings.elapsed() + wait > deadline:
            raise WaitTimeoutError(submission_id, timeout, last) from cause
        yield Pause(wait)
        pause = min(pause * _POLL_GROWTH, _POLL_MAX)


def timed_out(timeout: float) -> ApiTimeoutError:
    """The error of a request that took too long."""
    return ApiTimeoutError(f"No complete answer within {timeout} s.")
