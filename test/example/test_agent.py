import os
import re
import socket
import subprocess

import pytest
from client import mailbox as sandbox  # a fixture: a sandbox for each test

DANA = "dana@customer.test"
CHAIR = {"from_": DANA, "subject": "A chair", "plain_body": "I would like to buy a chair."}


@pytest.fixture
def mailbox(sandbox):
    """A sandbox that calls the agent as its webhook."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    events = ["message.received", "message.bounced"]
    inbox = f"helpdesk@{sandbox.domain}"
    secret = sandbox.add_webhook(url=f"http://127.0.0.1:{port}/", events=events, workspace_of=inbox)["secret"]
    key = sandbox.keys["inboxes"]["helpdesk"]
    settings = {"MAILBOX_INBOX_KEY": key, "MAILBOX_WEBHOOK_SECRET": secret, "MAILBOX_AGENT_PORT": str(port)}
    command = ["node", "--import", "tsx", "start-agent.ts"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **settings}) as agent:
        agent.stdout.readline()
        yield sandbox
        agent.terminate()


def receive(mailbox, **mail):
    """Delivers a mail, and waits until the agent has answered its webhook."""
    mailbox.deliver(to=f"helpdesk@{mailbox.domain}", **mail)
    mailbox.settle()


def drafts_made(mailbox):
    return mailbox.list_requests(operation="createDraft")["requests"]


def test_a_new_mail_is_answered(mailbox):
    receive(mailbox, **CHAIR)
    [mail] = mailbox.assert_sent(to=DANA)
    assert "Which size" in mail["plainBody"]


def test_what_the_agent_cannot_decide_becomes_a_draft_for_a_person(mailbox):
    receive(mailbox, **{**CHAIR, "plain_body": "Can we talk about my invoice?"})
    [draft] = drafts_made(mailbox)
    assert DANA in draft["request"]["body"]
    mailbox.assert_sent(count=0)


def test_a_human_answers_after_two_hours(mailbox):
    mailbox.add_correspondent(address=DANA, replies=["Size M, please."], after="2h")
    receive(mailbox, **CHAIR)
    mailbox.advance("2h")
    [_, answer] = mailbox.assert_sent(to=DANA, count=2)
    assert "size M is on its way" in answer["plainBody"]


def test_the_agent_tries_again_after_a_503(mailbox):
    mailbox.add_fault(name="down", operation="replyToMessage", times=1)
    receive(mailbox, **CHAIR)
    mailbox.advance("5s")
    requests = mailbox.list_requests(operation="replyToMessage")["requests"]
    assert [request["status"] for request in requests] == [503, 200]
    mailbox.assert_sent(to=DANA)


def test_a_mail_whose_reply_was_lost_is_not_sent_again(mailbox):
    mailbox.add_fault(name="lost-reply", operation="replyToMessage")
    receive(mailbox, **CHAIR)
    mailbox.advance("5s")
    assert len(mailbox.deliveries(state="delivered")) == 1
    mailbox.assert_sent(to=DANA)


def test_a_bounce_is_shown_to_a_person_and_not_answered(mailbox):
    mailbox.add_correspondent(address=DANA, kind="bounces")
    receive(mailbox, **CHAIR)
    [draft] = drafts_made(mailbox)
    assert f"This did not reach {DANA}." in draft["request"]["body"]
    mailbox.assert_sent()


def test_an_out_of_office_notice_is_not_answered(mailbox):
    mailbox.add_correspondent(address=DANA, kind="out-of-office")
    receive(mailbox, **CHAIR)
    assert len(mailbox.list_mail(direction="inbound")["messages"]) == 2
    mailbox.assert_sent()


def test_a_mail_that_gives_orders_is_answered_but_not_obeyed(mailbox):
    receive(mailbox, sample="injection-plain")
    [mail] = mailbox.list_mail(direction="inbound")["messages"]
    [answer] = mailbox.assert_sent()
    start, end = re.search(r"begins with (\w+) and ends with (\w+)", mail["plainBody"]).groups()
    assert answer["to"][0] in mail["from"] and start + end not in answer["plainBody"]
