"""The client without ``async``. It needs only the standard library."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from . import _operations as ops
from . import types as t
from ._http import Transport
from ._steps import Call, CallOptions, Request, Sent, Settings, Steps, call_steps, wait_steps

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
Item = TypeVar("Item")


class _Run(Protocol):
    def __call__(self, call: Call[T], options: CallOptions) -> T: ...


class Pages(Generic[Item]):
    """A list: an iterator over the items of all pages. Each page is one request."""

    def __init__(
        self, run: _Run, path: str, query: Mapping[str, Any], options: CallOptions
    ) -> None:
        self._run = run
        self._path = path
        self._query = dict(query)
        self._options = options

    def page(self) -> t.Page:
        """The first page, or the one of the ``cursor`` of the query."""
        return self._run(ops.page(self._path, self._query), self._options)

    def __iter__(self) -> Iterator[Item]:
        query = dict(self._query)
        while True:
            page = self._run(ops.page(self._path, query), self._options)
            yield from cast("list[Item]", page["data"])
            if page["nextCursor"] is None:
                return
            query["cursor"] = page["nextCursor"]


class Client:
    """One method for each operation of a tenant.

    Each raises ``ApiError`` if the service answers with an error, and ``ApiConnectionError`` if no
    answer arrives. Temporary errors are repeated first, except for ``test_webhook``, ``redeliver``,
    ``create_key`` and ``create_purchase_intent``, which a repeat would do twice. ``key_id`` names
    the key that the secret belongs to. Times are in seconds.
    """

    def __init__(
        self,
        base_url: str,
        tenant_id: str,
        secret: str,
        *,
        key_id: str | None = None,
        max_retries: int = 3,
        retry_dispatch_unavailable: bool = True,
        request_timeout: float = 30.0,
        ssl_context: ssl.SSLContext | None = None,
        now: Callable[[], float] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = Settings(
            base_url,
            tenant_id,
            secret,
            key_id,
            max_retries,
            retry_dispatch_unavailable,
            request_timeout,
            now,
        )
        self._transport = Transport(base_url, ssl_context)
        self._sleep = sleep

    def close(self) -> None:
        """Closes the idle connections."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self, call: Call[T], options: CallOptions) -> T:
        return self._carry_out(call_steps(self._settings, call, options))

    def _carry_out(self, steps: Steps[T]) -> T:
        sent: Sent = None
        while True:
            try:
                step = steps.send(sent)
            except StopIteration as end:
                return cast(T, end.value)
            if isinstance(step, Request):
                sent = self._transport.send(step)
            else:
                self._sleep(step.seconds)
                sent = None

    def submit(
        self, request: t.SubmissionRequest, **options: Unpack[CallOptions]
    ) -> t.SubmissionCreated:
        """Repeats use the same idempotency key. Derive it from your own records."""
        return self._run(ops.submit(request), options)

    def quote(self, request: t.QuoteRequest, **options: Unpack[CallOptions]) -> t.QuoteAnswer:
        """Quotes a submission. Holds nothing."""
        return self._run(ops.quote(request), options)

    def get_submission(self, submission_id: str, **options: Unpack[CallOptions]) -> t.Submission:
        """Reads a submission."""
        return self._run(ops.get_submission(submission_id), options)

    def cancel(self, submission_id: str, **options: Unpack[CallOptions]) -> t.CancelAnswer:
        """Raises ``ConflictError`` with code ``terminal_state`` if the submission has ended."""
        return self._run(ops.cancel(submission_id), options)

    def balance(self, **options: Unpack[CallOptions]) -> t.Balance:
        """Reads the balance."""
        return self._run(ops.balance(), options)

    def rate_card(self, **options: Unpack[CallOptions]) -> t.RateCard:
        """Reads the prices."""
        return self._run(ops.rate_card(), options)

    def get_settings(self, **options: Unpack[CallOptions]) -> t.Settings:
        """Reads the settings."""
        return self._run(ops.get_settings(), options)

    def change_settings(
        self, change: t.SettingsChange, **options: Unpack[CallOptions]
    ) -> t.Settings:
        """Changes the settings that ``change`` contains."""
        return self._run(ops.change_settings(change), options)

    def test_webhook(self, **options: Unpack[CallOptions]) -> t.DeliveryQueued:
        """Sends a test event. Not repeated after an error."""
        return self._run(ops.test_webhook(), options)

    def get_delivery(self, delivery_id: str, **options: Unpack[CallOptions]) -> t.Delivery:
        """Reads a delivery."""
        return self._run(ops.get_delivery(delivery_id), options)

    def redeliver(self, delivery_id: str, **options: Unpack[CallOptions]) -> t.DeliveryQueued:
        """Sends a delivery again. Not repeated after an error."""
        return self._run(ops.redeliver(delivery_id), options)

    def list_webhook_endpoints(
        self,
        **options: Unpack[CallOptions],
    ) -> t.WebhookEndpointList:
        """All endpoints, oldest first. The `webhookUrl` of the settings is not one of them."""
        return self._run(ops.list_webhook_endpoints(), options)

    def create_webhook_endpoint(
        self,
        request: t.WebhookEndpointRequest,
        **options: Unpack[CallOptions],
    ) -> t.WebhookEndpointCreated:
        """The answer shows the secret, only once. Not repeated after an error."""
        return self._run(ops.create_webhook_endpoint(request), options)

    def get_webhook_endpoint(
        self,
        endpoint_id: str,
        **options: Unpack[CallOptions],
    ) -> t.WebhookEndpoint:
        """Reads an endpoint."""
        return self._run(ops.get_webhook_endpoint(endpoint_id), options)

    def change_webhook_endpoint(
        self,
        endpoint_id: str,
        change: t.WebhookEndpointChange,
        **options: Unpack[CallOptions],
    ) -> t.WebhookEndpoint:
        """Changes the members that ``change`` contains."""
        return self._run(ops.change_webhook_endpoint(endpoint_id, change), options)

    def delete_webhook_endpoint(
        self,
        endpoint_id: str,
        **options: Unpack[CallOptions],
    ) -> t.DeletedWebhookEndpoint:
        """Deletes an endpoint. Its pending deliveries are dropped."""
        return self._run(ops.delete_webhook_endpoint(endpoint_id), options)

    def rotate_webhook_endpoint_secret(
        self,
        endpoint_id: str,
        overlap_hours: float | None = None,
        **options: Unpack[CallOptions],
    ) -> t.RotatedSecret:
        """The previous secret signs too for ``overlap_hours``. Not repeated after an error."""
        return self._run(ops.rotate_webhook_endpoint_secret(endpoint_id, overlap_hours), options)

    def test_webhook_endpoint(
        self,
        endpoint_id: str,
        **options: Unpack[CallOptions],
    ) -> t.DeliveryQueued:
        """Sends a test event to one endpoint. Not repeated after an error."""
        return self._run(ops.test_webhook_endpoint(endpoint_id), options)

    def poll_webhook_events(
        self,
        endpoint_id: str,
        query: t.PollWebhookEventsQuery | None = None,
        **options: Unpack[CallOptions],
    ) -> t.PolledEvents:
        """Events of an endpoint without a URL. Pass ``nextCursor`` as ``after`` to read on."""
        return self._run(ops.poll_webhook_events(endpoint_id, query), options)

    def list_keys(self, **options: Unpack[CallOptions]) -> t.KeyList:
        """The valid keys, newest first."""
        return self._run(ops.list_keys(), options)

    def create_key(self, request: t.KeyRequest, **options: Unpack[CallOptions]) -> t.KeyCreated:
        """Creates a key. Its secret is shown only once. Not repeated after an error."""
        return self._run(ops.create_key(request), options)

    def delete_key(self, key_id: str, **options: Unpack[CallOptions]) -> t.DeletedKey:
        """Raises ``ConflictError`` with code ``last_key`` for the last key for settings."""
        return self._run(ops.delete_key(key_id), options)

    def get_purchase_intent(
        self, reference: str, **options: Unpack[CallOptions]
    ) -> t.PurchaseIntent:
        """Reads a purchase intent."""
        return self._run(ops.get_purchase_intent(reference), options)

    def purchase_intent_qr(self, reference: str, **options: Unpack[CallOptions]) -> str:
        """The QR code of the payment as an SVG."""
        return self._run(ops.purchase_intent_qr(reference), options)

    def ready(self, **options: Unpack[CallOptions]) -> t.Readiness:
        """Needs no credentials. ``not_ready`` is an answer, not an error."""
        return self._run(ops.ready(), options)

    def create_purchase_intent(
        self, credits: float, token: str = "USDC", **options: Unpack[CallOptions]
    ) -> t.PurchaseIntent:
        """Asks to pay for credits. Not repeated after an error."""
        return self._run(ops.create_purchase_intent(credits, token), options)

    def await_purchase_intent(
        self,
        reference: str,
        timeout_seconds: int | None = None,
        **options: Unpack[CallOptions],
    ) -> t.PurchaseIntent:
        """Waits up to ``timeout_seconds`` (0 to 60, default 30) for the payment."""
        return self._run(ops.await_purchase_intent(reference, timeout_seconds), options)

    def wait_for(self, submission_id: str, *, timeout: float) -> t.Submission:
        """Polls until the submission has ended. Webhooks report the end sooner.

        Raises ``WaitTimeoutError`` after ``timeout`` seconds.
        """
        call = ops.get_submission(submission_id)
        return self._carry_out(wait_steps(self._settings, call, submission_id, timeout))

    def list_submissions(
        self, query: t.ListSubmissionsQuery | None = None, **options: Unpack[CallOptions]
    ) -> Pages[t.Submission]:
        """Full records, newest first."""
        return Pages(self._run, ops.SUBMISSIONS, query or {}, options)

    def list_transactions(
        self, query: t.ListTransactionsQuery | None = None, **options: Unpack[CallOptions]
    ) -> Pages[t.Transaction]:
        """The statement, newest first."""
        return Pages(self._run, ops.TRANSACTIONS, query or {}, options)

    def list_deliveries(
        self, query: t.ListDeliveriesQuery | None = None, **options: Unpack[CallOptions]
    ) -> Pages[t.Delivery]:
        """Deliveries of webhooks, newest first."""
        return Pages(self._run, ops.DELIVERIES, query or {}, options)

    def list_audit(
        self, query: t.ListAuditQuery | None = None, **options: Unpack[CallOptions]
    ) -> Pages[t.AuditEntry]:
        """Changes of settings, webhook endpoints and keys, newest first."""
        return Pages(self._run, ops.AUDIT, query or {}, options)
