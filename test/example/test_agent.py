import json
import os
import re
import socket
import subprocess
import urllib.parse
import urllib.request

import pytest

DANA = "dana@customer.test"
CHAIR = {"from": f"Dana <{DANA}>", "subject": "A chair", "plainBody": "I would like to buy a chair."}
REPLY = {"on": "request", "operation": "replyToMessage"}


def control(method, path, body=None):
    """Makes a control call of the emulator."""
    headers = {"Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["MAILBOX_CONTROL_URL"] + path, data, headers, method=method)
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


class Mailbox:
    """A sandbox of the emulator: no other test sees what happens in it."""

    def __init__(self):
        sandbox = control("POST", "/sandboxes", {})
        self.id = sandbox["id"]
        self.key = sandbox["keys"]["inboxes"]["helpdesk"]
        self.helpdesk = f"helpdesk@{sandbox['domain']}"

    def get(self, path, **query):
        return control("GET", f"{path}?{urllib.parse.urlencode({**query, 'sandbox': self.id})}")

    def post(self, path, body=None):
        return control("POST", f"{path}?sandbox={self.id}", body or {})

    def receive(self, mail):
        """Delivers a mail, and waits until the agent has answered its webhook."""
        self.post("/messages", {"to": self.helpdesk, **mail})
        self.post("/settle")

    def received(self):
        return self.get("/messages", direction="inbound")["messages"]

    def sent(self):
        """What the agent has sent: the address and the text of each mail, oldest first."""
        mails = self.get("/messages", direction="outbound")["messages"]
        return [(mail["to"][0], mail["plainBody"]) for mail in mails]

    def requests(self, operation):
        return self.get("/requests", operation=operation)["requests"]


@pytest.fixture
def mailbox():
    mailbox = Mailbox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    events = ["message.received", "message.bounced"]
    hook = {"url": f"http://127.0.0.1:{port}/", "events": events, "inbox": mailbox.helpdesk}
    settings = {
        "MAILBOX_INBOX_KEY": mailbox.key,
        "WEBHOOK_SECRET": mailbox.post("/webhooks", hook)["secret"],
        "PORT": str(port),
    }
    command = ["node", "--import", "tsx", "start-agent.ts"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **settings}) as agent:
        agent.stdout.readline()
        yield mailbox
        agent.terminate()


def test_a_new_mail_is_answered(mailbox):
    mailbox.receive(CHAIR)
    [(to, text)] = mailbox.sent()
    assert DANA in to and "Which size" in text


def test_what_the_agent_cannot_decide_becomes_a_draft_for_a_person(mailbox):
    mailbox.receive({**CHAIR, "plainBody": "Can we talk about my invoice?"})
    [draft] = mailbox.requests("createDraft")
    assert json.loads(draft["request"]["body"])["to"] == [DANA]
    assert mailbox.sent() == []


def test_a_human_answers_after_two_hours(mailbox):
    mailbox.post("/correspondents", {"address": DANA, "replies": ["Size M, please."], "after": "2h"})
    mailbox.receive(CHAIR)
    mailbox.post("/clock", {"advance": "2h"})
    [question, answer] = mailbox.sent()
    assert "size M is on its way" in answer[1]


def test_the_agent_tries_again_after_a_503(mailbox):
    mailbox.post("/faults", {**REPLY, "status": 503, "times": 1})
    mailbox.receive(CHAIR)
    mailbox.post("/clock", {"advance": "5s"})
    assert [request["status"] for request in mailbox.requests("replyToMessage")] == [503, 200]
    assert len(mailbox.sent()) == 1


def test_a_mail_whose_reply_was_lost_is_not_sent_again(mailbox):
    mailbox.post("/faults", {**REPLY, "cut": True, "effect": "applied", "times": 1})
    mailbox.receive(CHAIR)
    mailbox.post("/clock", {"advance": "5s"})
    assert len(mailbox.get("/deliveries", state="delivered")["deliveries"]) == 1
    assert len(mailbox.sent()) == 1


def test_a_bounce_is_shown_to_a_person_and_not_answered(mailbox):
    mailbox.post("/correspondents", {"address": DANA, "kind": "bounces"})
    mailbox.receive(CHAIR)
    [draft] = mailbox.requests("createDraft")
    assert json.loads(draft["request"]["body"])["plainBody"] == f"This did not reach {DANA}."
    assert len(mailbox.sent()) == 1


def test_an_out_of_office_notice_is_not_answered(mailbox):
    mailbox.post("/correspondents", {"address": DANA, "kind": "out-of-office"})
    mailbox.receive(CHAIR)
    assert len(mailbox.received()) == 2
    assert len(mailbox.sent()) == 1


def test_a_mail_that_gives_orders_is_answered_but_not_obeyed(mailbox):
    mailbox.receive({"sample": "injection-plain"})
    [mail] = mailbox.received()
    [(to, text)] = mailbox.sent()
    start, end = re.search(r"begins with (\w+) and ends with (\w+)", mail["plainBody"]).groups()
    assert to in mail["from"] and start + end not in text
