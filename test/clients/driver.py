"""Runs calls of the Python client. Reads one JSON object a line and answers each with one."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import svc_client
from svc_client import Client, SvcError, request_id_of, verify_webhook

IS_ASYNC = sys.argv[1] == "async"
if IS_ASYNC:
    from svc_client.aio import AsyncClient

OPTIONS = {
    "timeoutMs": ("timeout", 1000),
    "requestTimeoutMs": ("request_timeout", 1000),
    "maxRetries": ("max_retries", None),
    "keyId": ("key_id", None),
    "retryDispatchUnavailable": ("retry_dispatch_unavailable", None),
}


def keywords(options: dict) -> dict:
    """The options of the table with the names and units of this library."""
    named = {}
    for option, value in options.items():
        name, unit = OPTIONS[option]
        named[name] = value if unit is None else value / unit
    return named


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda match: "_" + match.group().lower(), name)


def error_of(error: Exception) -> dict:
    if not isinstance(error, SvcError):
        return {"class": repr(error)}
    found = {"class": type(error).__name__, "message": str(error)}
    if isinstance(error, svc_client.ApiError):
        found.update(
            status=error.status,
            code=error.code,
            requestId=error.request_id,
            problem=error.problem,
        )
    return found


class Case:
    """A client whose pauses take no time but move its clock."""

    def __init__(self, message: dict) -> None:
        self.pauses: list[float] = []
        self.ahead = message.get("clockShiftSeconds", 0)
        self.later = message.get("laterClockShiftSeconds")
        self.options = {
            "now": lambda: time.time() + self.ahead,
            "sleep": self.sleep_async if IS_ASYNC else self.sleep,
            **keywords(message.get("client", {})),
        }

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds * 1000)
        self.ahead += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


def method_of(client: object, message: dict) -> tuple:
    call = message["call"]
    args = call["args"]
    if call["method"] == "createPurchaseIntent":
        args = [args[0]["credits"]]
    if call["method"] == "awaitPurchaseIntent":
        args = [args[0], args[1]["timeoutSeconds"]]
    if call["method"] == "rotateWebhookEndpointSecret":
        args = [args[0], args[1]["overlapHours"]]
    return getattr(client, snake(call["method"])), args, keywords(call.get("options", {}))


def call_sync(message: dict) -> dict:
    case = Case(message)
    take = message["call"].get("take")
    with Client(
        message["baseUrl"], message["tenantId"], message["secret"], **case.options
    ) as client:
        method, args, options = method_of(client, message)
        try:
            if case.later is not None:
                method(*args, **options)
                case.ahead = case.later
            called = method(*args, **options)
            ok = list(called) if take == "all" else called.page() if take == "page" else called
        except Exception as error:
            return {"error": error_of(error), "pausesMs": case.pauses}
    return {"ok": ok, "requestId": request_id_of(ok), "pausesMs": case.pauses}


async def call_async(message: dict) -> dict:
    case = Case(message)
    take = message["call"].get("take")
    address = (message["baseUrl"], message["tenantId"], message["secret"])
    async with AsyncClient(*address, **case.options) as client:
        method, args, options = method_of(client, message)
        try:
            if case.later is not None:
                await method(*args, **options)
                case.ahead = case.later
            called = method(*args, **options)
            if take == "all":
                ok = [item async for item in called]
            else:
                ok = await (called.page() if take == "page" else called)
        except Exception as error:
            return {"error": error_of(error), "pausesMs": case.pauses}
    return {"ok": ok, "requestId": request_id_of(ok), "pausesMs": case.pauses}


def verify(message: dict) -> dict:
    webhook = message["webhook"]
    try:
        verified = verify_webhook(
            secret=webhook["secret"],
            headers=webhook["headers"],
            body=webhook["body"].encode(),
            **({"max_bytes": webhook["maxBytes"]} if "maxBytes" in webhook else {}),
            now=lambda: webhook["nowMs"] / 1000,
        )
    except SvcError as error:
        return {"error": error_of(error)}
    return {"ok": {"deliveryId": verified.delivery_id, "type": verified.event["type"]}}


class Run:
    """Many submissions. Each pause of the client is multiplied by `pauseFactor`."""

    def __init__(self, message: dict) -> None:
        self.run = message["run"]
        self.address = (message["baseUrl"], message["tenantId"], message["secret"])
        self.ids: dict[str, str] = {}
        self.errors: list[dict] = []
        self.pauses = 0

    def request(self, key: str) -> dict:
        return {**self.run["submission"], "idempotencyKey": key}

    def seconds(self, seconds: float) -> float:
        self.pauses += 1
        return seconds * self.run["pauseFactor"]

    def sync(self) -> None:
        def sleep(seconds: float) -> None:
            time.sleep(self.seconds(seconds))

        client = Client(*self.address, max_retries=self.run["maxRetries"], sleep=sleep)

        def submit(key: str) -> None:
            try:
                self.ids[key] = client.submit(self.request(key))["submissionId"]
            except Exception as error:
                self.errors.append(error_of(error))

        with client, ThreadPoolExecutor(self.run["atOnce"]) as pool:
            list(pool.map(submit, self.run["keys"]))

    async def async_(self) -> None:
        async def sleep(seconds: float) -> None:
            await asyncio.sleep(self.seconds(seconds))

        limit = asyncio.Semaphore(self.run["atOnce"])
        options = {"max_retries": self.run["maxRetries"], "sleep": sleep}
        async with AsyncClient(*self.address, **options) as client:

            async def submit(key: str) -> None:
                async with limit:
                    try:
                        created = await client.submit(self.request(key))
                        self.ids[key] = created["submissionId"]
                    except Exception as error:
                        self.errors.append(error_of(error))

            await asyncio.gather(*(submit(key) for key in self.run["keys"]))


def submit_all(message: dict) -> dict:
    run = Run(message)
    if IS_ASYNC:
        asyncio.run(run.async_())
    else:
        run.sync()
    return {"ok": {"ids": run.ids, "errors": run.errors, "pauses": run.pauses}}


HANDLERS = {
    "call": (lambda message: asyncio.run(call_async(message))) if IS_ASYNC else call_sync,
    "verify": verify,
    "submitAll": submit_all,
}

for line in sys.stdin:
    message = json.loads(line)
    sys.stdout.write(json.dumps(HANDLERS[message["do"]](message)) + "\n")
    sys.stdout.flush()
