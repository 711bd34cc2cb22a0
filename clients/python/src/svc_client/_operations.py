"""The request of each operation, and the member by which its answer is recognised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote as percent_encoded
from urllib.parse import urlencode

from . import types as t
from ._steps import Call

SUBMISSIONS = "/v1/submissions"
TRANSACTIONS = "/v1/credits/transactions"
DELIVERIES = "/v1/webhooks/deliveries"
AUDIT = "/v1/audit"
_ENDPOINTS = "/v1/webhook-endpoints"
_KEYS = "/v1/keys"
_INTENTS = "/v1/credits/purchase-intents"
_AWAIT_SECONDS_DEFAULT = 30


def _under(path: str, identifier: str) -> str:
    return f"{path}/{percent_encoded(identifier, safe='')}"


def with_query(path: str, query: Mapping[str, Any]) -> str:
    """A path with the members of a query that are not None."""
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def submit(request: t.SubmissionRequest) -> Call[t.SubmissionCreated]:
    return Call("POST", SUBMISSIONS, "submissionId", request)


def quote(request: t.QuoteRequest) -> Call[t.QuoteAnswer]:
    return Call("POST", "/v1/quotes", "quote", request)


def get_submission(submission_id: str) -> Call[t.Submission]:
    return Call("GET", _under(SUBMISSIONS, submission_id), "id")


def cancel(submission_id: str) -> Call[t.CancelAnswer]:
    path = f"{_under(SUBMISSIONS, submission_id)}/cancel"
    return Call("POST", path, "refund", is_cancel=True)


def balance() -> Call[t.Balance]:
    return Call("GET", "/v1/credits/balance", "available")


def rate_card() -> Call[t.RateCard]:
    return Call("GET", "/v1/rate-card", "jobTypes")


def get_settings() -> Call[t.Settings]:
    return Call("GET", "/v1/settings", "tenantId")


def change_settings(change: t.SettingsChange) -> Call[t.Settings]:
    return Call("PATCH", "/v1/settings", "tenantId", change)


def test_webhook() -> Call[t.DeliveryQueued]:
    # Each test event is a new one, so a lost answer is not repeated.
    return Call("POST", "/v1/webhooks/test", "deliveryId", is_repeatable=False)


def get_delivery(delivery_id: str) -> Call[t.Delivery]:
    return Call("GET", _under(DELIVERIES, delivery_id), "attempts")


def redeliver(delivery_id: str) -> Call[t.DeliveryQueued]:
    # A repeat could start a second round of attempts.
    path = f"{_under(DELIVERIES, delivery_id)}/redeliver"
    return Call("POST", path, "deliveryId", is_repeatable=False)


def list_webhook_endpoints() -> Call[t.WebhookEndpointList]:
    return Call("GET", _ENDPOINTS, "data")


def create_webhook_endpoint(request: t.WebhookEndpointRequest) -> Call[t.WebhookEndpointCreated]:
    # It has no key, so a repeat could leave a second endpoint.
    return Call("POST", _ENDPOINTS, "secret", request, is_repeatable=False)


def get_webhook_endpoint(endpoint_id: str) -> Call[t.WebhookEndpoint]:
    return Call("GET", _under(_ENDPOINTS, endpoint_id), "kind")


def change_webhook_endpoint(
    endpoint_id: str, change: t.WebhookEndpointChange
) -> Call[t.WebhookEndpoint]:
    return Call("PATCH", _under(_ENDPOINTS, endpoint_id), "kind", change)


def delete_webhook_endpoint(endpoint_id: str) -> Call[t.DeletedWebhookEndpoint]:
    return Call("DELETE", _under(_ENDPOINTS, endpoint_id), "id", deleted={"id": endpoint_id})


def rotate_webhook_endpoint_secret(
    endpoint_id: str, overlap_hours: float | None
) -> Call[t.RotatedSecret]:
    # A repeat would end the secret of the lost answer.
    body = {} if overlap_hours is None else {"overlapHours": overlap_hours}
    path = f"{_under(_ENDPOINTS, endpoint_id)}/rotate-secret"
    return Call("POST", path, "secret", body, is_repeatable=False)


def test_webhook_endpoint(endpoint_id: str) -> Call[t.DeliveryQueued]:
    path = f"{_under(_ENDPOINTS, endpoint_id)}/test"
    return Call("POST", path, "deliveryId", is_repeatable=False)


def poll_webhook_events(
    endpoint_id: str, query: t.PollWebhookEventsQuery | None
) -> Call[t.PolledEvents]:
    path = with_query(f"{_under(_ENDPOINTS, endpoint_id)}/events", query or {})
    return Call("GET", path, "nextCursor", wait=float((query or {}).get("waitSeconds") or 0))


def list_keys() -> Call[t.KeyList]:
    return Call("GET", _KEYS, "data")


def create_key(request: t.KeyRequest) -> Call[t.KeyCreated]:
    # A repeat could leave a second key.
    return Call("POST", _KEYS, "hmacSecret", request, is_repeatable=False)


def delete_key(key_id: str) -> Call[t.DeletedKey]:
    return Call("DELETE", _under(_KEYS, key_id), "keyId", deleted={"keyId": key_id})


def create_purchase_intent(credits: float, token: str) -> Call[t.PurchaseIntent]:
    # It has no key, so a repeat could leave a second intent.
    body = {"credits": credits, "token": token}
    return Call("POST", _INTENTS, "solanaPayUrl", body, is_repeatable=False)


def get_purchase_intent(reference: str) -> Call[t.PurchaseIntent]:
    return Call("GET", _under(_INTENTS, reference), "solanaPayUrl")


def await_purchase_intent(reference: str, timeout_seconds: int | None) -> Call[t.PurchaseIntent]:
    path = with_query(f"{_under(_INTENTS, reference)}/await", {"timeoutSeconds": timeout_seconds})
    wait = _AWAIT_SECONDS_DEFAULT if timeout_seconds is None else timeout_seconds
    return Call("GET", path, "solanaPayUrl", wait=float(wait))


def purchase_intent_qr(reference: str) -> Call[str]:
    return Call("GET", f"{_under(_INTENTS, reference)}/qr.svg", "<svg", is_text=True)


def ready() -> Call[t.Readiness]:
    return Call("GET", "/ready", "status", is_open=True)


def page(path: str, query: Mapping[str, Any]) -> Call[t.Page]:
    return Call("GET", with_query(path, query), "nextCursor")
