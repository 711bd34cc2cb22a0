"""The client of openapi-python-client: a read, a creation and a refusal."""

import hashlib
import hmac
import os
import time

import httpx
from submission_service_client import AuthenticatedClient
from submission_service_client.api.credits_ import get_balance
from submission_service_client.api.submissions import create_submission, get_submission
from submission_service_client.models import (
    Balance,
    Problem,
    Submission,
    SubmissionCreated,
    SubmissionFailure,
    SubmissionRequest,
)


def sign(request: httpx.Request) -> None:
    """An event hook: adds two headers of CONTRACT 1. The client sends `X-SVC-Tenant`."""
    timestamp = str(int(time.time()))
    lines = (
        "SVC1-HMAC-SHA256",
        timestamp,
        request.method,
        request.url.raw_path.decode(),
        hashlib.sha256(request.read()).hexdigest(),
    )
    key = os.environ["SVC_SECRET"].encode()
    signature = hmac.new(key, "\n".join(lines).encode(), hashlib.sha256).hexdigest()
    request.headers["X-SVC-Timestamp"] = timestamp
    request.headers["X-SVC-Signature"] = f"v1={signature}"


client = AuthenticatedClient(
    base_url=os.environ["SVC_URL"],
    token=os.environ["SVC_TENANT"],
    prefix="",
    auth_header_name="X-SVC-Tenant",
    httpx_args={"event_hooks": {"request": [sign]}},
    raise_on_unexpected_status=True,
)

balance = get_balance.sync(client=client)
assert isinstance(balance, Balance), balance
assert balance.currency == "credits", balance

content = {
    "idempotencyKey": "openapi-python-client",
    "jobType": "ats.application",
    "payload": {
        "applicationUrl": "https://jobs.example.com/apply/8841",
        "atsType": "greenhouse",
        "applicantProfile": {"basics": {"name": "Ana Pérez", "email": "ana@example.com"}},
        "jobContext": {"title": "Welder", "company": "Example Works"},
    },
}
created = create_submission.sync_detailed(client=client, body=SubmissionRequest.from_dict(content))
assert created.status_code == 201, created
assert isinstance(created.parsed, SubmissionCreated), created
record = get_submission.sync(created.parsed.submission_id, client=client)
assert isinstance(record, Submission), record
assert record.id == created.parsed.submission_id, record

changed = SubmissionRequest.from_dict({**content, "tier": "standard "})
refused = create_submission.sync_detailed(client=client, body=changed)
assert refused.status_code == 409, refused
assert getattr(refused.parsed, "code", None) == "idempotency_key_conflict", refused

# A code that is added later is accepted.
failure = SubmissionFailure.from_dict(
    {"code": "added_later", "message": "m", "retriable": False, "outcomeUnknown": False}
)
assert failure.code == "added_later", failure
problem = {"type": "t", "title": "t", "status": 402, "detail": "d"}
later = Problem.from_dict({**problem, "code": "added_later", "requestId": "r"})
assert later.code == "added_later", later
print("openapi-python-client: a read, a creation and a refusal")
