"""An agent that answers each mail once, with the standard library alone."""

import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.request import Request, urlopen

BASE = f"{os.environ['MAILBOX_BASE_URL']}/v1/inboxes/{os.environ['MAILBOX_INBOX_ID']}"
HEADERS = {"X-API-Key": os.environ["MAILBOX_INBOX_KEY"], "Content-Type": "application/json"}


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(BASE + path, data, HEADERS, method=method)) as reply:
        return json.load(reply)


class Webhook(BaseHTTPRequestHandler):
    def do_POST(self):
        event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            mail = call("GET", f"/messages/{event['messageId']}")
            thread = call("GET", f"/threads/{mail['threadId']}")["messages"]
            if all(each["inReplyTo"] != mail["messageIdHeader"] for each in thread):
                call("POST", f"/reply/{mail['id']}", {"plainBody": "It is on its way."})
            self.send_response(200)
        except OSError:
            # The service sends the event again later.
            self.send_response(500)
        self.end_headers()


HTTPServer(("127.0.0.1", int(os.environ["MAILBOX_AGENT_PORT"])), Webhook).serve_forever()
