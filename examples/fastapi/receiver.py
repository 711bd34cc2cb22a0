import os
import sqlite3

import uvicorn
from fastapi import FastAPI, Request, Response
from svc_client import WebhookVerificationError, verify_webhook

DATABASE = os.environ.get("DATABASE", "webhooks.db")
SECRET = os.environ["SVC_WEBHOOK_SECRET"]

app = FastAPI()
with sqlite3.connect(DATABASE) as database:
    database.execute("CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY)")


@app.post("/")
async def receive(request: Request) -> Response:
    body = await request.body()  # the bytes as they came, not a model
    try:
        webhook = verify_webhook(secret=SECRET, headers=request.headers, body=body)
    except WebhookVerificationError:
        return Response(status_code=400)
    with sqlite3.connect(DATABASE) as database:  # one transaction
        row = (webhook.delivery_id,)
        is_new = database.execute("INSERT OR IGNORE INTO deliveries VALUES (?)", row).rowcount == 1
        # If is_new, change your own records here, in the same transaction.
        print("new" if is_new else "seen before", webhook.event["type"], flush=True)
    return Response(status_code=204)


if __name__ == "__main__":
    uvicorn.run(app, port=int(os.environ.get("PORT", "9000")), log_level="warning")
