"""Uses the installed package as a program of a tenant does. mypy checks it. It needs no network."""

import base64
import hashlib
import hmac
import json
import time

from svc_client import ApiConnectionError, Client, WebhookVerificationError, verify_webhook
from svc_client.types import Submission


def failures(client: Client) -> list[str]:
    """The codes of failed submissions. The types come from the package."""
    failed: list[Submission] = list(client.list_submissions({"status": "failed"}))
    return [one["failure"]["code"] for one in failed if one["failure"] is not None]


client = Client("http://127.0.0.1:9", "tnt_none", "hsk_test_none", max_retries=0)
try:
    failures(client)
except ApiConnectionError:
    print("connection refused")

key = b"a webhook secret of a user"
body = json.dumps({"id": "evt_1", "type": "webhook.test", "timestamp": "", "data": {}}).encode()
timestamp = str(int(time.time()))
signed = b"dlv_1." + timestamp.encode() + b"." + body
signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
headers = {
    "webhook-id": "dlv_1",
    "webhook-timestamp": timestamp,
    "webhook-signature": f"v1,{signature}",
}
secret = f"whsec_{base64.b64encode(key).decode()}"
webhook = verify_webhook(secret=secret, headers=headers, body=body)
print(webhook.event["type"])
try:
    verify_webhook(secret=secret, headers=headers, body=body + b" ")
except WebhookVerificationError:
    print("forged webhook refused")
