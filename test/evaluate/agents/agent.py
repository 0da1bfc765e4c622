"""The example agent of `test/example/`, in Python, with the standard library alone."""

import base64
import hashlib
import hmac
import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

BASE = f"{os.environ['MAILBOX_BASE_URL']}/v1/inboxes/{os.environ['MAILBOX_INBOX_ID']}"
HEADERS = {"X-API-Key": os.environ["MAILBOX_INBOX_KEY"], "Content-Type": "application/json"}
SECRET = base64.b64decode(os.environ["MAILBOX_WEBHOOK_SECRET"].replace("whsec_", ""))
AUTOMATIC = re.compile(r"^(Auto-Submitted: (?!no)|Precedence: (bulk|list|junk)|List-Id:|Return-Path: <>)", re.I | re.M)


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(BASE + path, data, HEADERS, method=method)) as reply:
        return reply.read()


def is_genuine(headers, body):
    sent_at = headers["webhook-timestamp"]
    signed = f"{headers['webhook-id']}.{sent_at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(SECRET, signed, hashlib.sha256)).decode()
    is_signed = any(hmac.compare_digest(each, expected) for each in headers["webhook-signature"].split(" "))
    return is_signed and abs(time.time() - int(sent_at)) <= 300


def decide(text):
    """Returns the text of an answer; None for a draft, which a person checks."""
    if re.search(r"\bopen\b", text, re.I):
        return "We are open from Monday to Friday."
    size = re.search(r"\bsize ([SML])\b", text, re.I)
    if size:
        return f"Your chair in size {size[1]} is on its way."
    return "Which size would you like: S, M or L?" if re.search(r"\bchair\b", text, re.I) else None


def handle(event):
    mail = json.loads(call("GET", f"/messages/{event['messageId']}"))
    thread = json.loads(call("GET", f"/threads/{mail['threadId']}"))["messages"]
    drafts = json.loads(call("GET", "/drafts?limit=200"))["drafts"]
    # An event can come twice. What the first one led to is in the mailbox.
    if any(each["direction"] == "outbound" and each["inReplyTo"] == mail["messageIdHeader"] for each in thread):
        return
    if any(each["replyToMessageId"] == mail["id"] for each in drafts):
        return

    def file_draft(to, text):
        draft = {"to": to, "subject": f"Re: {mail['subject']}", "plainBody": text, "replyToMessageId": mail["id"]}
        call("POST", "/drafts", draft)

    if event["event"] == "message.bounced":
        return file_draft([], f"This did not reach {event['recipient']}.")
    head = re.split(r"\r?\n\r?\n", call("GET", f"/messages/{mail['id']}/raw").decode(errors="replace"))[0]
    if AUTOMATIC.search(head):
        return
    text = decide(mail["plainBody"])
    if text is None:
        return file_draft([mail["from"]], "Thank you for your mail.")
    call("POST", f"/reply/{mail['id']}", {"plainBody": text})


class Webhook(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            is_known = is_genuine(self.headers, body)
            if is_known:
                handle(json.loads(body))
            self.send_response(200 if is_known else 401)
        except OSError:
            # The service sends the event again later.
            self.send_response(500)
        urlopen(Request(os.environ["MAILBOX_DONE_URL"], b"", method="POST")).close()
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ["MAILBOX_AGENT_PORT"])), Webhook).serve_forever()
