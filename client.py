"""The control calls of agent-mailbox-mock, generated from its table; no package is needed.

    from client import Mailbox

    with Mailbox().sandbox() as box:
        box.deliver(to="helpdesk@" + box.domain, from_="dana@customer.test", subject="Hello")
        run_my_agent(box.base_url, box.keys["inboxes"]["helpdesk"])
        box.assert_sent(to="dana@customer.test")

"agent-mailbox-mock exec" sets the variables MAILBOX_BASE_URL and, if calls need a token, AGENT_MAILBOX_TOKEN.
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
    names = "TEST_PARALLEL_INDEX VITEST_POOL_ID JEST_WORKER_ID PYTEST_XDIST_WORKER CI_NODE_INDEX".split()
    numbers = [int(found.group()) for name in names for found in re.finditer(r"\d+$", os.environ.get(name, ""))]
    return urls[(sum(numbers) if numbers else random.randrange(10**6)) % len(urls)] if urls else None


class MailboxError(Exception):
    """The emulator refused a call. The error has the status, the code and the message of the reply."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code


def _quote(name: str, value: str) -> str:
    # A URL resolves "." and "..", also if they are encoded, so that the call would be another call.
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise ValueError(f"The argument {name} must be a text other than '', '.' and '..', not {value!r}")
    return quote(value, safe="")


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(str(item) for item in value)
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
        query: Optional[Dict[str, Any]] = None,
        body: Optional[Dict[str, Any]] = None,
        content: str = "application/json",
        takes_sandbox: bool = False,
    ) -> Any:
        fields = _given(query or {})
        if takes_sandbox and self._sandbox_id is not None:
            fields["sandbox"] = self._sandbox_id
        url = self.base_url + "/__mock" + path
        if fields:
            url += "?" + urlencode({name: _text(value) for name, value in fields.items()})
        headers = {} if self._token is None else {"X-Mock-Token": self._token}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode("utf-8")
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
        """Creates a sandbox, and closes it at the end of a "with" block."""
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
        """Fails unless exactly "count" sent mails match "to" and "subject", also if deleted since. Returns them."""
        unknown = set(filters) - {"to", "subject"}
        if unknown:
            raise TypeError(f"assert_sent takes to and subject, not {', '.join(sorted(unknown))}")
        sent = [entry["data"]["mail"] for entry in self.read_journal(kinds="mail-sent")["entries"]]
        found = [mail for mail in sent if _matches(mail, **filters)]
        if len(found) == count:
            return found
        lines = [f"  {mail['subject']!r} to {', '.join(_recipients(mail))}" for mail in sent]
        all_sent = "All sent mails:\n" + "\n".join(lines) if lines else "Nothing was sent at all."
        arrived = [entry["data"]["mail"]["id"] for entry in self.read_journal(kinds="mail-received")["entries"]]
        told = [line for mail_id in arrived[-3:] for line in self.explain_mail(mail_id)["lines"]][:20]
        story = "\nWhat happened:\n" + "\n".join(f"  {line}" for line in told) if told else ""
        raise AssertionError(f"{len(found)} sent mails match {filters}, but {count} should match. {all_sent}{story}")

    def list_control_calls(self) -> Any:
        """Lists the control calls."""
        return self._call("GET", "")

    def get_control_health(self) -> Any:
        """Shows that the emulator is running, its version, its URL and its mail ports."""
        return self._call("GET", "/health")

    def get_readiness(self) -> Any:
        """Shows that the emulator has not begun to end. This call needs no token."""
        return self._call("GET", "/ready")

    def get_control_open_api(self) -> Any:
        """Shows the OpenAPI 3.1 document of the control calls."""
        return self._call("GET", "/control.json")

    def get_python_client(self) -> str:
        """Sends a client of the control calls for Python: one file, without packages."""
        return self._call("GET", "/client.py", content="text/x-python")

    def get_open_api(self) -> Any:
        """Shows the OpenAPI 3.1 document of the emulated service."""
        return self._call("GET", "/openapi.json")

    def get_async_api(self) -> Any:
        """Shows the AsyncAPI 3.0 document of the event streams."""
        return self._call("GET", "/asyncapi.json")

    def get_trace_schema(self) -> Any:
        """Shows the JSON Schema of a line of a trace."""
        return self._call("GET", "/trace.schema.json")

    def get_fixture_schema(self) -> Any:
        """Shows the JSON Schema of a fixture, for editors."""
        return self._call("GET", "/fixture.schema.json")

    def get_scenario_schema(self) -> Any:
        """Shows the JSON Schema of a file of scenarios, for editors; only a server has it."""
        return self._call("GET", "/scenario.schema.json")

    def list_behaviours(self) -> Any:
        """Lists every behaviour with its possible values, its current value, and the source of this
        value."""
        return self._call("GET", "/behaviours")

    def change_behaviours(self, *, fields: Dict[str, Any]) -> Any:
        """Changes behaviours, by their ids, while the mailbox runs; null restores the value at the
        start."""
        return self._call("POST", "/behaviours", body=fields)

    def reset(self) -> Any:
        """Restores the initial state."""
        return self._call("POST", "/reset", takes_sandbox=True)

    def export_state(self) -> Any:
        """Shows all data as a fixture; a mailbox with this fixture has the same data."""
        return self._call("GET", "/export", takes_sandbox=True)

    def list_checkpoints(self) -> Any:
        """Lists the checkpoints, oldest first."""
        return self._call("GET", "/checkpoints", takes_sandbox=True)

    def add_checkpoint(self, *, name: str) -> Any:
        """Saves the present state under a name."""
        return self._call("POST", "/checkpoints", body=_given({"name": name}), takes_sandbox=True)

    def restore_checkpoint(self, name: str) -> Any:
        """Restores the state of a checkpoint."""
        return self._call(
            "POST",
            f"/checkpoints/{_quote('name', name)}/restore",
            takes_sandbox=True,
        )

    def remove_checkpoint(self, name: str) -> Any:
        """Removes a checkpoint."""
        return self._call("DELETE", f"/checkpoints/{_quote('name', name)}", takes_sandbox=True)

    def diff_checkpoints(self, from_: str, to: str) -> Any:
        """Shows what differs between two checkpoints; `now` is the present state."""
        return self._call(
            "GET",
            f"/checkpoints/{_quote('from_', from_)}/diff/{_quote('to', to)}",
            takes_sandbox=True,
        )

    def list_correspondents(self) -> Any:
        """Lists the correspondents, oldest first."""
        return self._call("GET", "/correspondents", takes_sandbox=True)

    def add_correspondent(
        self,
        *,
        kind: Optional[str] = None,
        replies: Optional[Any] = None,
        quoting: Optional[str] = None,
        address: Optional[str] = None,
        tenant: Optional[str] = None,
        after: Optional[Any] = None,
        members: Optional[Any] = None,
        status: Optional[str] = None,
        diagnostic: Optional[Any] = None,
    ) -> Any:
        """Adds somebody who answers the mail to an address."""
        return self._call(
            "POST",
            "/correspondents",
            body=_given({
                "kind": kind,
                "replies": replies,
                "quoting": quoting,
                "address": address,
                "tenant": tenant,
                "after": after,
                "members": members,
                "status": status,
                "diagnostic": diagnostic,
            }),
            takes_sandbox=True,
        )

    def clear_correspondents(self) -> Any:
        """Removes every correspondent."""
        return self._call("DELETE", "/correspondents", takes_sandbox=True)

    def remove_correspondent(self, id: str) -> Any:
        """Removes one correspondent."""
        return self._call("DELETE", f"/correspondents/{_quote('id', id)}", takes_sandbox=True)

    def list_sandboxes(self) -> Any:
        """Lists the sandboxes; the sandbox that was used least recently comes first."""
        return self._call("GET", "/sandboxes")

    def create_sandbox(
        self,
        *,
        fixture: Optional[Any] = None,
        seed: Optional[int] = None,
        secrets: Optional[str] = None,
        journal: Optional[str] = None,
        name: Optional[Any] = None,
        refusals: Optional[str] = None,
    ) -> Any:
        """Creates a sandbox: a copy of a tenant with keys, ids and a domain of its own."""
        return self._call(
            "POST",
            "/sandboxes",
            body=_given({
                "fixture": fixture,
                "seed": seed,
                "secrets": secrets,
                "journal": journal,
                "name": name,
                "refusals": refusals,
            }),
        )

    def get_sandbox(self, id: str) -> Any:
        """Shows one sandbox."""
        return self._call("GET", f"/sandboxes/{_quote('id', id)}")

    def close_sandbox(self, id: str) -> Any:
        """Closes one sandbox: its keys become invalid, and its streams and deliveries end."""
        return self._call("DELETE", f"/sandboxes/{_quote('id', id)}")

    def get_clock(self, *, tenant: Optional[str] = None) -> Any:
        """Shows the time, and whether it is frozen."""
        return self._call("GET", "/clock", query={"tenant": tenant}, takes_sandbox=True)

    def change_clock(
        self,
        *,
        freeze: Optional[Any] = None,
        advance: Optional[Any] = None,
        resume: Optional[bool] = None,
        tenant: Optional[str] = None,
    ) -> Any:
        """Freezes, advances or resumes the clock. If the client disconnects, an advance stops."""
        return self._call(
            "POST",
            "/clock",
            body=_given({"freeze": freeze, "advance": advance, "resume": resume, "tenant": tenant}),
            takes_sandbox=True,
        )

    def receive_message(
        self,
        *,
        to: Optional[Any] = None,
        from_: Optional[str] = None,
        cc: Optional[Any] = None,
        reply_to: Optional[Any] = None,
        subject: Optional[str] = None,
        plain_body: Optional[str] = None,
        html_body: Optional[Any] = None,
        attachments: Optional[Any] = None,
        message_id: Optional[str] = None,
        in_reply_to: Optional[Any] = None,
        references: Optional[Any] = None,
        headers: Optional[Any] = None,
        tenant: Optional[str] = None,
        envelope_from: Optional[str] = None,
        auth: Optional[Any] = None,
        eml: Optional[Any] = None,
        sample: Optional[str] = None,
        seed: Optional[int] = None,
        base_url: Optional[str] = None,
    ) -> Any:
        """Delivers an inbound mail, given as separate fields, as raw text (RFC 5322) or as a sample."""
        return self._call(
            "POST",
            "/messages",
            body=_given({
                "to": to,
                "from": from_,
                "cc": cc,
                "replyTo": reply_to,
                "subject": subject,
                "plainBody": plain_body,
                "htmlBody": html_body,
                "attachments": attachments,
                "messageId": message_id,
                "inReplyTo": in_reply_to,
                "references": references,
                "headers": headers,
                "tenant": tenant,
                "envelopeFrom": envelope_from,
                "auth": auth,
                "eml": eml,
                "sample": sample,
                "seed": seed,
                "baseUrl": base_url,
            }),
            takes_sandbox=True,
        )

    def list_mail(
        self,
        *,
        to: Optional[str] = None,
        subject: Optional[str] = None,
        direction: Optional[str] = None,
        since: Optional[Any] = None,
        tenant: Optional[str] = None,
    ) -> Any:
        """Lists the mail that arrived or was sent since the emulator started or was reset, oldest
        first. The messages of the fixture are not listed."""
        return self._call(
            "GET",
            "/messages",
            query={
                "to": to,
                "subject": subject,
                "direction": direction,
                "since": since,
                "tenant": tenant,
            },
            takes_sandbox=True,
        )

    def clear_mail(
        self,
        *,
        tenant: Optional[str] = None,
        workspace: Optional[str] = None,
        inbox: Optional[str] = None,
        folder: Optional[str] = None,
        search: Optional[str] = None,
    ) -> Any:
        """Removes, for good, the mail that a search with the same fields finds."""
        return self._call(
            "DELETE",
            "/messages",
            query={
                "tenant": tenant,
                "workspace": workspace,
                "inbox": inbox,
                "folder": folder,
                "search": search,
            },
            takes_sandbox=True,
        )

    def list_samples(self) -> Any:
        """Lists the samples that were delivered, oldest first, with what the agent did: at most the
        latest 20 of each tenant since the start, a reset or a restore."""
        return self._call("GET", "/samples", takes_sandbox=True)

    def list_known_samples(self) -> Any:
        """Lists the samples that can be delivered, by family, without twins and without those that
        are made from parts."""
        return self._call("GET", "/samples/known", takes_sandbox=True)

    def wait_for_message(
        self,
        *,
        to: str,
        subject: Optional[str] = None,
        direction: Optional[str] = None,
        since: Optional[Any] = None,
        tenant: Optional[str] = None,
        timeout: Optional[Any] = None,
    ) -> Any:
        """Waits for a mail and shows it."""
        return self._call(
            "GET",
            "/messages/wait",
            query={
                "to": to,
                "subject": subject,
                "direction": direction,
                "since": since,
                "tenant": tenant,
                "timeout": timeout,
            },
            takes_sandbox=True,
        )

    def list_tenants(self) -> Any:
        """Lists the tenants and sandboxes, oldest first, with their workspaces, inboxes and numbers
        of messages."""
        return self._call("GET", "/tenants", takes_sandbox=True)

    def search_mail(
        self,
        *,
        tenant: Optional[str] = None,
        workspace: Optional[str] = None,
        inbox: Optional[str] = None,
        folder: Optional[str] = None,
        search: Optional[str] = None,
        threads: Optional[bool] = None,
        offset: Optional[int] = None,
        limit: Optional[int] = None,
        index_of: Optional[str] = None,
    ) -> Any:
        """Searches all mail, including the mail of the fixture, newest first."""
        return self._call(
            "GET",
            "/messages/search",
            query={
                "tenant": tenant,
                "workspace": workspace,
                "inbox": inbox,
                "folder": folder,
                "search": search,
                "threads": threads,
                "offset": offset,
                "limit": limit,
                "indexOf": index_of,
            },
            takes_sandbox=True,
        )

    def list_drafts(
        self,
        *,
        tenant: Optional[str] = None,
        workspace: Optional[str] = None,
        inbox: Optional[str] = None,
        offset: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> Any:
        """Lists the drafts of all inboxes, newest first: the draft that was changed last comes
        first."""
        return self._call(
            "GET",
            "/drafts",
            query={
                "tenant": tenant,
                "workspace": workspace,
                "inbox": inbox,
                "offset": offset,
                "limit": limit,
            },
            takes_sandbox=True,
        )

    def get_latest_mail_html(
        self,
        *,
        to: str,
        subject: Optional[str] = None,
        direction: Optional[str] = None,
        since: Optional[Any] = None,
        tenant: Optional[str] = None,
        timeout: Optional[Any] = None,
    ) -> str:
        """Shows the HTML of the newest matching mail since the start, or waits for such a mail; for
        browser tests."""
        return self._call(
            "GET",
            "/messages/latest.html",
            query={
                "to": to,
                "subject": subject,
                "direction": direction,
                "since": since,
                "tenant": tenant,
                "timeout": timeout,
            },
            content="text/html",
            takes_sandbox=True,
        )

    def get_mail_html(self, id: str) -> str:
        """Shows the HTML of a mail and nothing else. No script runs, and nothing is loaded."""
        return self._call(
            "GET",
            f"/messages/{_quote('id', id)}.html",
            content="text/html",
            takes_sandbox=True,
        )

    def get_mail(self, id: str) -> Any:
        """Shows a mail with everything that is known about it. The mail is not marked as read."""
        return self._call("GET", f"/messages/{_quote('id', id)}", takes_sandbox=True)

    def remove_mail(self, id: str) -> Any:
        """Removes a mail for good, with its files."""
        return self._call("DELETE", f"/messages/{_quote('id', id)}", takes_sandbox=True)

    def explain_mail(self, id: str) -> Any:
        """Tells what became of a mail: which webhooks were called for it or why not, who read it,
        what was sent because of it, and what is still due."""
        return self._call("GET", f"/messages/{_quote('id', id)}/story", takes_sandbox=True)

    def get_mail_source(self, id: str) -> bytes:
        """Sends the raw text of a mail (RFC 5322), to be saved as a file."""
        return self._call(
            "GET",
            f"/messages/{_quote('id', id)}/source",
            content="application/octet-stream",
            takes_sandbox=True,
        )

    def get_mail_file(self, id: str, file_id: str) -> bytes:
        """Sends a file of a mail, to be saved as a file."""
        return self._call(
            "GET",
            f"/messages/{_quote('id', id)}/files/{_quote('file_id', file_id)}",
            content="application/octet-stream",
            takes_sandbox=True,
        )

    def trigger_event(
        self,
        *,
        event: str,
        tenant: Optional[str] = None,
        webhook_id: Optional[str] = None,
        inbox_id: Optional[str] = None,
        message_id: Optional[str] = None,
        id: Optional[str] = None,
        to: Optional[Any] = None,
    ) -> Any:
        """Triggers an event and shows the deliveries that it created."""
        return self._call(
            "POST",
            "/events",
            body=_given({
                "tenant": tenant,
                "webhookId": webhook_id,
                "inboxId": inbox_id,
                "messageId": message_id,
                "id": id,
                "to": to,
                "event": event,
            }),
            takes_sandbox=True,
        )

    def list_deliveries(
        self,
        *,
        tenant: Optional[str] = None,
        webhook_id: Optional[str] = None,
        event: Optional[str] = None,
        state: Optional[str] = None,
    ) -> Any:
        """Lists deliveries, oldest first, with each attempt, and counts those that were removed
        because the log was full."""
        return self._call(
            "GET",
            "/deliveries",
            query={"tenant": tenant, "webhookId": webhook_id, "event": event, "state": state},
            takes_sandbox=True,
        )

    def get_delivery(self, id: str) -> Any:
        """Shows one delivery."""
        return self._call("GET", f"/deliveries/{_quote('id', id)}", takes_sandbox=True)

    def redeliver(self, id: str, *, url: Optional[str] = None) -> Any:
        """Sends a delivery again immediately; a URL in the body is for this time only."""
        return self._call(
            "POST",
            f"/deliveries/{_quote('id', id)}/redeliver",
            body=_given({"url": url}),
            takes_sandbox=True,
        )

    def release_deliveries(
        self,
        *,
        tenant: Optional[str] = None,
        webhook_id: Optional[str] = None,
        count: Optional[int] = None,
    ) -> Any:
        """Sends deliveries that a fault has held back."""
        return self._call(
            "POST",
            "/deliveries/release",
            body=_given({"tenant": tenant, "webhookId": webhook_id, "count": count}),
            takes_sandbox=True,
        )

    def list_webhook_settings(self) -> Any:
        """Lists every webhook with its secret, grouped by tenant, oldest first."""
        return self._call("GET", "/webhooks", takes_sandbox=True)

    def add_webhook(
        self,
        *,
        url: str,
        events: Optional[Any] = None,
        inbox: Optional[str] = None,
        workspace: Optional[str] = None,
        tenant: Optional[str] = None,
    ) -> Any:
        """Adds a webhook, and shows it with its secret."""
        return self._call(
            "POST",
            "/webhooks",
            body=_given({
                "url": url,
                "events": events,
                "inbox": inbox,
                "workspace": workspace,
                "tenant": tenant,
            }),
            takes_sandbox=True,
        )

    def list_keys(
        self,
        *,
        tenant: Optional[str] = None,
        offset: Optional[int] = None,
        limit: Optional[int] = None,
        key: Optional[str] = None,
    ) -> Any:
        """Lists the valid keys, or only the given key, each with everything that a leak of it would
        expose."""
        return self._call(
            "GET",
            "/keys",
            query={"tenant": tenant, "offset": offset, "limit": limit, "key": key},
            takes_sandbox=True,
        )

    def rotate_key(self, id: str) -> Any:
        """Replaces a key of a tenant, workspace or inbox, and closes the streams that the old key
        opened."""
        return self._call("POST", f"/keys/{_quote('id', id)}/rotate", takes_sandbox=True)

    def list_faults(self) -> Any:
        """Lists the faults that still apply, oldest first."""
        return self._call("GET", "/faults", takes_sandbox=True)

    def add_fault(
        self,
        *,
        on: Optional[str] = None,
        operation: Optional[str] = None,
        key: Optional[str] = None,
        tier: Optional[str] = None,
        status: Optional[int] = None,
        body: Optional[Any] = None,
        headers: Optional[Any] = None,
        latency: Optional[Any] = None,
        cut: Optional[bool] = None,
        effect: Optional[str] = None,
        rate_limit: Optional[Any] = None,
        tenant: Optional[str] = None,
        after: Optional[int] = None,
        times: Optional[int] = None,
        kind: Optional[str] = None,
        webhook_id: Optional[str] = None,
        delay: Optional[Any] = None,
        code: Optional[int] = None,
        recipient: Optional[str] = None,
        message: Optional[str] = None,
        inbox: Optional[str] = None,
        commands: Optional[int] = None,
        name: Optional[str] = None,
    ) -> Any:
        """Adds a fault of requests, deliveries, streams, SMTP or IMAP, in its full form or by its
        name."""
        return self._call(
            "POST",
            "/faults",
            body=_given({
                "on": on,
                "operation": operation,
                "key": key,
                "tier": tier,
                "status": status,
                "body": body,
                "headers": headers,
                "latency": latency,
                "cut": cut,
                "effect": effect,
                "rateLimit": rate_limit,
                "tenant": tenant,
                "after": after,
                "times": times,
                "kind": kind,
                "webhookId": webhook_id,
                "delay": delay,
                "code": code,
                "recipient": recipient,
                "message": message,
                "inbox": inbox,
                "commands": commands,
                "name": name,
            }),
            takes_sandbox=True,
        )

    def clear_faults(self) -> Any:
        """Removes every fault."""
        return self._call("DELETE", "/faults", takes_sandbox=True)

    def remove_fault(self, id: str) -> Any:
        """Removes one fault."""
        return self._call("DELETE", f"/faults/{_quote('id', id)}", takes_sandbox=True)

    def list_requests(
        self,
        *,
        protocol: Optional[str] = None,
        operation: Optional[str] = None,
        status: Optional[int] = None,
        key: Optional[str] = None,
        since: Optional[str] = None,
        tenant: Optional[str] = None,
        after: Optional[str] = None,
        limit: Optional[int] = None,
        format: Optional[str] = None,
    ) -> Any:
        """Lists the requests that the service has handled, oldest first; also as a HAR document, or
        without headers, queries and bodies."""
        return self._call(
            "GET",
            "/requests",
            query={
                "protocol": protocol,
                "operation": operation,
                "status": status,
                "key": key,
                "since": since,
                "tenant": tenant,
                "after": after,
                "limit": limit,
                "format": format,
            },
            takes_sandbox=True,
        )

    def clear_requests(self) -> Any:
        """Makes the list of requests start after the present ones."""
        return self._call("DELETE", "/requests", takes_sandbox=True)

    def get_request(self, id: str) -> Any:
        """Shows one request."""
        return self._call("GET", f"/requests/{_quote('id', id)}", takes_sandbox=True)

    def read_journal(self, *, kinds: Optional[Any] = None, epoch: Optional[str] = None) -> Any:
        """Lists what has happened since the start or the latest reset, oldest first, and how many
        entries were dropped."""
        return self._call(
            "GET",
            "/journal",
            query={"kinds": kinds, "epoch": epoch},
            takes_sandbox=True,
        )

    def read_trace(self, *, bytes: Optional[bool] = None) -> bytes:
        """Sends what has happened since the start or the latest reset as a trace: JSON Lines, to be
        saved as a file."""
        return self._call(
            "GET",
            "/trace",
            query={"bytes": bytes},
            content="application/octet-stream",
            takes_sandbox=True,
        )

    def restore_requests(self) -> Any:
        """Makes the list of requests start where it started before it was last cleared."""
        return self._call("POST", "/requests/restore", takes_sandbox=True)

    def read_feed(
        self,
        *,
        follow: Optional[bool] = None,
        last_event_id: Optional[str] = None,
    ) -> Iterator[Dict[str, Any]]:
        """Streams what happens in the emulator, as server-sent events."""
        return self._call(
            "GET",
            "/feed",
            query={"follow": follow, "lastEventId": last_event_id},
            content="text/event-stream",
            takes_sandbox=True,
        )

    def settle(self, *, timeout: Optional[Any] = None) -> Any:
        """Waits until no work is due or running."""
        return self._call("POST", "/settle", body=_given({"timeout": timeout}), takes_sandbox=True)


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
