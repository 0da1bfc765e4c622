import { CONTROL_PATH } from './control-path.ts';
import { WORKER_NUMBERS } from './place.ts';

/** The beginning of the client for Python, before the methods that are generated from the table. */
export const PYTHON_START = `"""The control calls of agent-mailbox-mock, generated from its table; no package is needed.

    from client import Mailbox

    with Mailbox().sandbox() as box:
        box.deliver(to="helpdesk@" + box.domain, from_="dana@customer.test", subject="Hello")
        run_my_agent(box.base_url, box.keys["inboxes"]["helpdesk"])
        box.assert_sent(to="dana@customer.test")

\`agent-mailbox-mock exec\` sets the variables MAILBOX_BASE_URL and, if calls need a token, AGENT_MAILBOX_TOKEN.
If MAILBOX_URLS has several URLs, separated by commas, each worker of a test runner uses one of them.
"""

from __future__ import annotations

import json
import os
import random
import re
from typing import Any, Dict, Iterator, List, Optional
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

# The proxy that the environment names is not used for the emulator.
_OPENER = build_opener(ProxyHandler({}))


def _urls() -> List[str]:
    return [url.strip().rstrip("/") for url in os.environ.get("MAILBOX_URLS", "").split(",") if url.strip()]


def _worker_url() -> Optional[str]:
    urls = _urls()
    names = "${WORKER_NUMBERS.join(' ')}".split()
    numbers = [int(found.group()) for name in names for found in re.finditer(r"\\d+$", os.environ.get(name, ""))]
    return urls[(sum(numbers) if numbers else random.randrange(10**6)) % len(urls)] if urls else None


class MailboxError(Exception):
    """The emulator refused a call. The error has the status, the code and the message of the reply."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code


def _quote(value: str) -> str:
    return quote(str(value), safe="")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _given(fields: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


class Mailbox:
    """A running emulator, or one sandbox of it. Arguments that are None are not sent."""

    def __init__(
        self, url: Optional[str] = None, token: Optional[str] = None, sandbox_id: Optional[str] = None
    ) -> None:
        base_url = url or _worker_url() or os.environ.get("MAILBOX_BASE_URL") or "http://127.0.0.1:4025"
        self.base_url = base_url.rstrip("/")
        self._token = token or os.environ.get("AGENT_MAILBOX_TOKEN")
        self._sandbox_id = sandbox_id

    def _call(
        self,
        method: str,
        path: str,
        query: Dict[str, Any],
        body: Optional[Dict[str, Any]],
        content: str,
        takes_sandbox: bool,
    ) -> Any:
        fields = _given(query)
        if takes_sandbox and self._sandbox_id is not None:
            fields["sandbox"] = self._sandbox_id
        url = self.base_url + "${CONTROL_PATH}" + path
        if fields:
            url += "?" + urlencode({name: _text(value) for name, value in fields.items()})
        headers = {} if self._token is None else {"X-Mock-Token": self._token}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(_given(body)).encode("utf-8")
        try:
            reply = _OPENER.open(Request(url, data=data, headers=headers, method=method))
        except HTTPError as error:
            text = error.read().decode("utf-8", "replace")
            try:
                details = json.loads(text)
            except ValueError:
                details = {"error": text[:500]}
            raise MailboxError(error.code, str(details.get("code", "")), str(details.get("error", ""))) from None
        if content == "text/event-stream":
            return _events(reply)
        with reply:
            received = reply.read()
        if content == "application/json":
            return json.loads(received)
        return received if content == "application/octet-stream" else received.decode("utf-8")

    def sandbox(self, **options: Any) -> Sandbox:
        """Creates a sandbox, and closes it at the end of a \`with\` block."""
        return Sandbox(self, self.create_sandbox(**options))

    def deliver(self, **mail: Any) -> List[Dict[str, Any]]:
        """Delivers a mail from outside, or a sample, and returns the messages that arrived: one for each inbox."""
        return self.receive_message(**mail)["messages"]

    def wait(self, to: str, **options: Any) -> Dict[str, Any]:
        """Waits for a mail to an address, and returns it."""
        return self.wait_for_message(to=to, **options)

    def deliveries(self, **filters: Any) -> List[Dict[str, Any]]:
        """Returns the deliveries to webhooks, with their attempts."""
        return self.list_deliveries(**filters)["deliveries"]

    def advance(self, duration: str) -> Dict[str, Any]:
        """Advances the clock, for example by "2h". Everything that becomes due happens."""
        return self.change_clock(advance=duration)

    def assert_sent(self, count: int = 1, **filters: Any) -> List[Dict[str, Any]]:
        """Fails unless exactly \`count\` sent mails match \`to\` and \`subject\`, also if they were deleted since. Returns them."""
        unknown = set(filters) - {"to", "subject"}
        if unknown:
            raise TypeError(f"assert_sent takes to and subject, not {', '.join(sorted(unknown))}")
        sent = [entry["data"]["mail"] for entry in self.read_journal(kinds="mail-sent")["entries"]]
        found = [mail for mail in sent if _matches(mail, **filters)]
        if len(found) == count:
            return found
        lines = [f"  {mail['subject']!r} to {', '.join(_recipients(mail))}" for mail in sent]
        all_sent = "All sent mails:\\n" + "\\n".join(lines) if lines else "Nothing was sent at all."
        arrived = [entry["data"]["mail"]["id"] for entry in self.read_journal(kinds="mail-received")["entries"]]
        told = [line for mail_id in arrived[-3:] for line in self.explain_mail(mail_id)["lines"]][:20]
        story = "\\nWhat happened:\\n" + "\\n".join(f"  {line}" for line in told) if told else ""
        raise AssertionError(f"{len(found)} sent mails match {filters}, but {count} should match. {all_sent}{story}")
`;

/** The end of the client for Python, after the methods that are generated from the table. */
export const PYTHON_END = `
def _recipients(mail: Dict[str, Any]) -> List[str]:
    return [*mail["to"], *mail["cc"], *mail["bcc"]]


def _bare(address: str) -> str:
    return (address.rsplit("<", 1)[1].split(">")[0] if address.endswith(">") else address).strip().lower()


def _matches(mail: Dict[str, Any], to: Optional[str] = None, subject: Optional[str] = None) -> bool:
    is_to = to is None or _bare(to) in [_bare(recipient) for recipient in _recipients(mail)]
    return is_to and (subject is None or subject in mail["subject"])


def _events(reply: Any) -> Iterator[Dict[str, Any]]:
    with reply:
        for line in reply:
            if line.startswith(b"data:"):
                yield json.loads(line[5:])


class Sandbox(Mailbox):
    """A sandbox. Its calls cannot see the data of other tenants."""

    def __init__(self, mailbox: Mailbox, created: Dict[str, Any]) -> None:
        # A single URL may be the URL of a load balancer, so the sandbox is called at the URL of its process.
        url = mailbox.base_url if len(_urls()) > 1 else created["url"]
        super().__init__(url, mailbox._token, created["id"])
        self.id: str = created["id"]
        self.domain: str = created["domain"]
        self.keys: Dict[str, Any] = created["keys"]
        self.ids: Dict[str, Any] = created["ids"]
        self.logins: Dict[str, Dict[str, str]] = created["logins"]
        self._mailbox = Mailbox(url, mailbox._token)

    def close(self) -> None:
        """Removes the sandbox with all its data."""
        self._mailbox.close_sandbox(self.id)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


try:
    import pytest
except ImportError:
    pass
else:

    @pytest.fixture
    def mailbox() -> Iterator[Sandbox]:
        """A sandbox for each test."""
        with Mailbox().sandbox() as created:
            yield created
`;
