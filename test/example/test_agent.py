import json
import os
import socket
import subprocess
import urllib.request

import pytest

DANA = "dana@customer.test"


class Mailbox:
    """A sandbox of the running emulator, with the agent as a process."""

    def __init__(self):
        self.sandbox = self.call("POST", "/sandboxes", {})
        self.query = f"?sandbox={self.sandbox['id']}"
        self.helpdesk = f"helpdesk@{self.sandbox['domain']}"
        self.key = self.sandbox["keys"]["inboxes"]["helpdesk"]

    def call(self, method, path, body=None):
        headers = {"Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(os.environ["MAILBOX_CONTROL_URL"] + path, data, headers, method=method)
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    def start_agent(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        events = ["message.received", "message.bounced"]
        hook = {"url": f"http://127.0.0.1:{port}/", "events": events, "inbox": self.helpdesk}
        secret = self.call("POST", f"/webhooks{self.query}", hook)["secret"]
        settings = {"MAILBOX_INBOX_KEY": self.key, "WEBHOOK_SECRET": secret, "PORT": str(port)}
        # A test that moves the clock moves the time of the events, but not that of the agent.
        environment = {**os.environ, **settings, "TOLERANCE_MS": "86400000"}
        command = ["node", "--import", "tsx", "start-agent.ts"]
        self.agent = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        self.agent.stdout.readline()

    def close(self):
        self.agent.terminate()
        self.agent.communicate()
        self.call("DELETE", f"/sandboxes/{self.sandbox['id']}")

    def receive(self, **mail):
        """Delivers a mail, and waits until the agent has answered its webhook."""
        self.call("POST", f"/messages{self.query}", {"to": self.helpdesk, **mail})
        self.call("POST", f"/settle{self.query}")

    def advance(self, duration):
        self.call("POST", f"/clock{self.query}", {"advance": duration})

    def add_correspondent(self, **options):
        self.call("POST", f"/correspondents{self.query}", {"address": DANA, **options})

    def add_fault(self, **options):
        self.call("POST", f"/faults{self.query}", {"on": "request", "operation": "replyToMessage", **options})

    def mails(self, direction):
        return self.call("GET", f"/messages{self.query}&direction={direction}&limit=100")["messages"]

    def texts_sent(self):
        return [self.call("GET", f"/messages/{mail['id']}{self.query}")["plainBody"] for mail in self.mails("outbound")]

    def requests(self, operation):
        return self.call("GET", f"/requests{self.query}&operation={operation}")["requests"]


@pytest.fixture
def mailbox():
    mailbox = Mailbox()
    mailbox.start_agent()
    yield mailbox
    mailbox.close()
