import os
import sqlite3

from flask import Flask, request
from svc_client import WebhookVerificationError, verify_webhook

DATABASE = os.environ.get("DATABASE", "webhooks.db")
SECRET = os.environ["SVC_WEBHOOK_SECRET"]

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 1_048_576
with sqlite3.connect(DATABASE) as database:
    database.execute("CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY)")


@app.post("/")
def receive():
    body = request.get_data()  # the bytes as they came, not request.json
    try:
        webhook = verify_webhook(secret=SECRET, headers=request.headers, body=body)
    except WebhookVerificationError:
        return "", 400
    with sqlite3.connect(DATABASE) as database:  # one transaction
        row = (webhook.delivery_id,)
        is_new = database.execute("INSERT OR IGNORE INTO deliveries VALUES (?)", row).rowcount == 1
        # If is_new, change your own records here, in the same transaction.
        print("new" if is_new else "seen before", webhook.event["type"], flush=True)
    return "", 204


if __name__ == "__main__":
    app.run(port=int(os.environ.get("PORT", "9000")))
