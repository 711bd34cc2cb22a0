"""Verifies webhooks (Standard Webhooks v1)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from .errors import WebhookVerificationError
from .types import WebhookEvent

_SIGNATURES_MAX = 16
_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True)
class VerifiedWebhook:
    """A webhook that the service has signed.

    ``delivery_id`` is the same for every attempt. Deduplicate by it before you act.
    """

    delivery_id: str
    event: WebhookEvent


def _header(headers: Mapping[str, str], name: str) -> str:
    for key, value in headers.items():
        if key.lower() == name and value:
            return value
    raise WebhookVerificationError(f"The header {name} is missing.")


def _base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _key(secret: str) -> bytes:
    key = _base64(secret.removeprefix("whsec_"))
    # With an empty key, anyone could sign.
    if not key:
        raise WebhookVerificationError("The webhook secret is malformed. Pass all of it: whsec_….")
    return key


def _raw(body: object, max_bytes: int) -> bytes:
    """The bytes of the body. Refuses a body over ``max_bytes`` before it copies the body."""
    if not isinstance(body, (bytes, bytearray, memoryview, str)):
        raise WebhookVerificationError("The body is not bytes or str. Pass the raw body.")
    # Each character of a str has at least one byte in UTF-8.
    length = body.nbytes if isinstance(body, memoryview) else len(body)
    if length <= max_bytes:
        raw = body.encode() if isinstance(body, str) else bytes(body)
        if len(raw) <= max_bytes:
            return raw
    raise WebhookVerificationError(f"The body is larger than max_bytes ({max_bytes} bytes).")


def verify_webhook(
    *,
    secret: str | Sequence[str],
    headers: Mapping[str, str],
    body: bytes | str,
    tolerance_seconds: float = 300,
    max_bytes: int = _MAX_BYTES,
    now: Callable[[], float] = time.time,
) -> VerifiedWebhook:
    """Verifies a webhook and returns its event.

    ``secret`` is the webhook secret, ``whsec_…``, or several of them while a rotation overlaps.
    ``body`` must be the received bytes before any parsing. ``max_bytes`` is the most bytes of the
    body, by default 1 MiB. Raises ``WebhookVerificationError`` if the webhook cannot be trusted, or
    if its body is larger.
    """
    delivery_id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    values = _header(headers, "webhook-signature").split(" ")[:_SIGNATURES_MAX]
    signatures = [_base64(value[3:]) for value in values if value.startswith("v1,")]
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 15):
        raise WebhookVerificationError("webhook-timestamp is not Unix time in seconds.")
    if abs(int(timestamp) - int(now())) > tolerance_seconds:
        raise WebhookVerificationError(
            "webhook-timestamp is too far from the local clock. Correct the clock."
        )
    raw = _raw(body, max_bytes)
    content = f"{delivery_id}.{timestamp}.".encode() + raw
    for one in [secret] if isinstance(secret, str) else secret:
        expected = hmac.new(_key(one), content, hashlib.sha256).digest()
        if any(found is not None and hmac.compare_digest(found, expected) for found in signatures):
            return VerifiedWebhook(delivery_id, _event(raw))
    raise WebhookVerificationError(
        "No signature of the webhook matches. Check the secret, and pass the body as received."
    )


def _event(raw: bytes) -> WebhookEvent:
    try:
        return cast(WebhookEvent, json.loads(raw))
    except ValueError as cause:
        raise WebhookVerificationError("The body is not JSON.") from cause
