"""The client with ``async``. It needs ``httpx``: ``pip install svc-client[async]``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

import httpx

from . import _operations as ops
from . import types as t
from ._steps import (
    ANSWER_BYTES_MAX,
    Answer,
    Call,
    CallOptions,
    Request,
    Sent,
    Settings,
    Steps,
    call_steps,
    timed_out,
    wait_steps,
)
from .errors import ApiConnectionError

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
Item = TypeVar("Item")


class _Run(Protocol):
    async def __call__(self, call: Call[T], options: CallOptions) -> T: ...


class AsyncPages(Generic[Item]):
    """A list: an async iterator over the items of all pages. Each page is one request."""

    def __init__(
        self, run: _Run, path: str, query: Mapping[str, Any], options: CallOptions
    ) -> None:
        self._run = run
        self._path = path
        self._query = dict(query)
        self._options = options

    async def page(self) -> t.Page:
        """The first page, or the one of the ``cursor`` of the query."""
        return await self._run(ops.page(self._path, self._query), self._options)

    async def __aiter__(self) -> AsyncIterator[Item]:
        query = dict(self._query)
        while True:
            page = await self._run(ops.page(self._path, query), self._options)
            for item in cast("list[Item]", page["data"]):
                yield item
            if page["nextCursor"] is None:
                return
            query["cursor"] = page["nextCursor"]


class AsyncClient:
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
        http: httpx.AsyncClient | None = None,
        now: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
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
        # The steps of a call limit its time.
        self._http = http or httpx.AsyncClient(timeout=None)
        self._root = httpx.URL(self._settings.base_url)
        self._sleep = sleep

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _run(self, call: Call[T], options: CallOptions) -> T:
        return await self._carry_out(call_steps(self._settings, call, options))

    async def _carry_out(self, steps: Steps[T]) -> T:
        sent: Sent = None
        while True:
            try:
                step = steps.send(sent)
            except StopIteration as end:
                return cast(T, end.value)
            if isinstance(step, Request):
                sent = await self._send(step)
            else:
                await self._sleep(step.seconds)
                sent = None

    async def _send(self, request: Request) -> Answer | ApiConnectionError:
        # The target is sent exactly as it was signed.
        url = self._root.copy_with(raw_path=request.target.encode())
        try:
            return await asyncio.wait_for(self._exchange(request, url), request.timeout)
        except (asyncio.TimeoutError, httpx.TimeoutException):
            return timed_out(request.timeout)
        except httpx.TransportError as cause:
            error = ApiConnectionError("No complete answer arrived.")
            error.__cause__ = cause
            return error

    async def _exchange(self, request: Request, url: httpx.URL) -> Answer | ApiConnectionError:
        content = bytearray()
        async with self._http.stream(
            request.method,
            url,
            content=request.body,
            headers=request.headers,
            follow_redirects=False,
        ) as response:
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > ANSWER_BYTES_MAX:
                    return ApiConnectionError("The answer has more than 16 MiB.")
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status_code, headers, bytes(content))

    async def submit(
        self, request: t.SubmissionRequest, **options: Unpack[CallOptions]
    ) -> t.SubmissionCreated:
        """Repeats use the same idempotency key. Derive it from your own records."""
        return await self._run(ops.submit(request), options)

    async def quote(self, request: t.QuoteRequest, **options: Unpack[CallOptions]) -> t.QuoteAnswer:
        """Quotes a submission. Holds nothing."""
        return await self._run(ops.quote(request), options)

    async def get_submission(
        self, submission_id: str, **options: Unpack[CallOptions]
    ) -> t.Submission:
        """Reads a submission."""
        return await self._run(ops.get_submission(submission_id), options)

    async def cancel(self, submission_id: str, **options: Unpack[CallOptions]) -> t.CancelAnswer:
        """Raises ``ConflictError`` with code ``terminal_state`` if the submission has ended."""
        return await self._run(ops.cancel(submission_id), options)

    async def balance(self, **options: Unpack[CallOptions]) -> t.Balance:
        """Reads the balance."""
        return await self._run(ops.balance(), options)

    async def rate_card(self, **options: Unpack[CallOptions]) -> t.RateCard:
        """Reads the prices."""
        return await self._run(ops.rate_card(), options)

    async def get_settings(self, **options: Unpack[CallOptions]) -> t.Settings:
        """Reads the settings."""
        return await self._run(ops.get_settings(), options)

    async def change_settings(
        self, change: t.SettingsChange, **options: Unpack[CallOptions]
    ) -> t.Settings:
        """Changes the settings that ``change`` contains."""
        return await self._run(ops.change_settings(change), options)

    async def test_webhook(self, **options: Unpack[CallOptions]) -> t.DeliveryQueued:
        """Sends a test event. Not repeated after an error."""
        return await self._run(ops.test_webhook(), options)

    async def get_delivery(self, delivery_id: str, **options: Unpack[CallOptions]) -> t.Delivery:
        """Reads a delivery."""
        return await self._run(ops.get_delivery(delivery_id), options)

    async def redeliver(self, delivery_id: str, **options: Unpack[CallOptions]) -> t.DeliveryQueued:
        """Sends a delivery again. Not repeated after an error."""
        return await self._run(ops.redeliver(delivery_id), options)

    async def list_webhook_endpoints(
        self,
        **options: Unpack[CallOptions],
    ) -> t.WebhookEndpointList:
        """All endpoints, oldest first. The `webhookUrl` of the settings is not one of them."""
        return await self._run(ops.list_webhook_endpoints(), options)

    async def create_webhook_endpoint(
        self,
        request: t.WebhookEndpointRequest,
        **options: Unpack[CallOptions],
    ) -> t.WebhookEndpointCreated:
        """The answer shows the secret, only once. Not repeated after an error."""
        return await self._run(ops.create_webhook_endpoint(request), options)

    async def get_webhook_endpoint(
        self,
        endpoint_id: str,
        **options: Unpack[CallOptions],
    ) -> t.WebhookEndpoint:
        """Reads an endpoint."""
        return await self._run(ops.get_webhook_endpoint(endpoint_id), options)

    async def change_webhook_endpoint(
        self,
        endpoint_id: str,
        change: t.WebhookEndpointChange,
        **options: Unpack[CallOptions],
    ) -> t.WebhookEndpoint:
        """Changes the members that ``change`` contains."""
        return await self._run(ops.change_webhook_endpoint(endpoint_id, change), options)

    async def delete_webhook_endpoint(
        self,
        endpoint_id: str,
        **options: Unpack[CallOptions],
    ) -> t.DeletedWebhookEndpoint:
        """Deletes an endpoint. Its pending deliveries are dropped."""
        return await self._run(ops.delete_webhook_endpoint(endpoint_id), options)

    async def rotate_webhook_endpoint_secret(
        self,
        endpoint_id: str,
        overlap_hours: float | None = None,
        **options: Unpack[CallOptions],
    ) -> t.RotatedSecret:
        """The previous secret signs too for ``overlap_hours``. Not repeated after an error."""
        call = ops.rotate_webhook_endpoint_secret(endpoint_id, overlap_hours)
        return await self._run(call, options)

    async def test_webhook_endpoint(
        self,
        endpoint_id: str,
        **options: Unpack[CallOptions],
    ) -> t.DeliveryQueued:
        """Sends a test event to one endpoint. Not repeated after an error."""
        return await self._run(ops.test_webhook_endpoint(endpoint_id), options)

    async def poll_webhook_events(
        self,
        endpoint_id: str,
        query: t.PollWebhookEventsQuery | None = None,
        **options: Unpack[CallOptions],
    ) -> t.PolledEvents:
        """Events of an endpoint without a URL. Pass ``nextCursor`` as ``after`` to read on."""
        return await self._run(ops.poll_webhook_events(endpoint_id, query), options)

    async def list_keys(self, **options: Unpack[CallOptions]) -> t.KeyList:
        """The valid keys, newest first."""
        return await self._run(ops.list_keys(), options)

    async def create_key(
        self, request: t.KeyRequest, **options: Unpack[CallOptions]
    ) -> t.KeyCreated:
        """Creates a key. Its secret is shown only once. Not repeated after an error."""
        return await self._run(ops.create_key(request), options)

    async def delete_key(self, key_id: str, **options: Unpack[CallOptions]) -> t.DeletedKey:
        """Raises ``ConflictError`` with code ``last_key`` for the last key for settings."""
        return await self._run(ops.delete_key(key_id), options)

    async def get_purchase_intent(
        self, reference: str, **options: Unpack[CallOptions]
    ) -> t.PurchaseIntent:
        """Reads a purchase intent."""
        return await self._run(ops.get_purchase_intent(reference), options)

    async def purchase_intent_qr(self, reference: str, **options: Unpack[CallOptions]) -> str:
        """The QR code of the payment as an SVG."""
        return await self._run(ops.purchase_intent_qr(reference), options)

    async def ready(self, **options: Unpack[CallOptions]) -> t.Readiness:
        """Needs no credentials. ``not_ready`` is an answer, not an error."""
        return await self._run(ops.ready(), options)

    async def create_purchase_intent(
        self, credits: float, token: str = "USDC", **options: Unpack[CallOptions]
    ) -> t.PurchaseIntent:
        """Asks to pay for credits. Not repeated after an error."""
        return await self._run(ops.create_purchase_intent(credits, token), options)

    async def await_purchase_intent(
        self,
        reference: str,
        timeout_seconds: int | None = None,
        **options: Unpack[CallOptions],
    ) -> t.PurchaseIntent:
        """Waits up to ``timeout_seconds`` (0 to 60, default 30) for the payment."""
        return await self._run(ops.await_purchase_intent(reference, timeout_seconds), options)

    async def wait_for(self, submission_id: str, *, timeout: float) -> t.Submission:
        """Polls until the submission has ended. Webhooks report the end sooner.

        Raises ``WaitTimeoutError`` after ``timeout`` seconds.
        """
        call = ops.get_submission(submission_id)
        return await self._carry_out(wait_steps(self._settings, call, submission_id, timeout))

    def list_submissions(
        self, query: t.ListSubmissionsQuery | None = None, **options: Unpack[CallOptions]
    ) -> AsyncPages[t.Submission]:
        """Full records, newest first."""
        return AsyncPages(self._run, ops.SUBMISSIONS, query or {}, options)

    def list_transactions(
        self, query: t.ListTransactionsQuery | None = None, **options: Unpack[CallOptions]
    ) -> AsyncPages[t.Transaction]:
        """The statement, newest first."""
        return AsyncPages(self._run, ops.TRANSACTIONS, query or {}, options)

    def list_deliveries(
        self, query: t.ListDeliveriesQuery | None = None, **options: Unpack[CallOptions]
    ) -> AsyncPages[t.Delivery]:
        """Deliveries of webhooks, newest first."""
        return AsyncPages(self._run, ops.DELIVERIES, query or {}, options)

    def list_audit(
        self, query: t.ListAuditQuery | None = None, **options: Unpack[CallOptions]
    ) -> AsyncPages[t.AuditEntry]:
        """Changes of settings, webhook endpoints and keys, newest first."""
        return AsyncPages(self._run, ops.AUDIT, query or {}, options)
