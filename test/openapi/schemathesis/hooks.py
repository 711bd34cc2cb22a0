"""Signs the requests of Schemathesis (CONTRACT 1). Checks that the service accepts valid ones."""

from __future__ import annotations

import hashlib
import hmac
import os
import random
import time
from collections import defaultdict, deque

import schemathesis
from requests import PreparedRequest
from requests.auth import AuthBase

OPERATOR_PATH = "/v1/credits/purchase"
IDENTITY_HEADERS = ("X-SVC-Tenant", "X-SVC-Operator", "X-SVC-Key")


class Signature(AuthBase):
    """Signs for the tenant, or for the operator if the path is an operator's."""

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        is_operator = request.path_url.split("?")[0] == OPERATOR_PATH
        header = "X-SVC-Operator" if is_operator else "X-SVC-Tenant"
        identity = os.environ["SVC_OPERATOR_ID" if is_operator else "SVC_TENANT"]
        secret = os.environ["SVC_OPERATOR_SECRET" if is_operator else "SVC_SECRET"]
        body = request.body or b""
        data = body.encode() if isinstance(body, str) else body
        timestamp = str(int(time.time()))
        lines = (
            "SVC1-HMAC-SHA256",
            timestamp,
            str(request.method),
            request.path_url,
            hashlib.sha256(data).hexdigest(),
        )
        signature = hmac.new(secret.encode(), "\n".join(lines).encode(), hashlib.sha256)
        for name in IDENTITY_HEADERS:
            request.headers.pop(name, None)
        request.headers[header] = identity
        request.headers["X-SVC-Timestamp"] = timestamp
        request.headers["X-SVC-Signature"] = f"v1={signature.hexdigest()}"
        return request


schemathesis.auth.set_from_requests(Signature()).apply_to(path_regex="^/v1/")

# The newest ids by prefix. Requests use them, because generated ids belong to nothing.
created: dict[str, deque[str]] = defaultdict(lambda: deque(maxlen=50))
chance = random.Random()


@schemathesis.hook
def after_call(context, case, response) -> None:
    if response.status_code not in (201, 202):
        return
    try:
        answer = response.json()
    except ValueError:
        return
    for name in ("id", "submissionId", "deliveryId", "keyId"):
        value = answer.get(name)
        if isinstance(value, str):
            created[value.split("_")[0]].append(value)


@schemathesis.hook
def before_call(context, case, kwargs) -> None:
    """Puts a created id into half of the paths, and shortens a valid wait to 1 s."""
    for name, value in (case.path_parameters or {}).items():
        known = created.get(str(value).split("_")[0])
        if known and chance.random() < 0.5:
            case.path_parameters[name] = chance.choice(known)
    for name in ("waitSeconds", "timeoutSeconds"):
        wait = (case.query or {}).get(name)
        if type(wait) is int and 1 < wait <= 30:
            case.query[name] = 1


# Refusals with these codes are no fault. They depend on what the deployment and the tenant may use,
# and no schema can say that.
STATE_CODES = {"unknown_job_type", "unknown_tier", "quote_failed"}
# Violations with these keywords are no fault, because no schema can say these rules.
BEYOND_SCHEMAS = {
    "cursor": "a cursor is from an earlier answer",
    "format": "a host is public, a CIDR block has no host bits",
    "kind": "an endpoint keeps its kind",
    "maxDepth": "a profile has at most 64 levels",
    "multipleOf": "a binary fraction has more than six decimals",
    "unsafeString": "U+0000 and lone surrogates at any depth",
}


@schemathesis.check
def valid_request_accepted(ctx, response, case) -> None:
    """A valid request gets no 400, 413, 415 or 422, except by a rule that no schema can say."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive:
        return
    if response.status_code not in (400, 413, 415, 422):
        return
    if "html" in response.headers.get("content-type", [""])[0]:
        return
    problem = response.json()
    errors = problem.get("errors", [])
    if problem["code"] in STATE_CODES:
        return
    if errors and all(error["keyword"] in BEYOND_SCHEMAS for error in errors):
        return
    raise AssertionError(f"The service refused what its schema allows: {response.text}")
