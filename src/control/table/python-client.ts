import {
  formsOf,
  type Json,
  type OpenApiDocument,
  type OpenApiOperation,
  operationsIn,
} from '../../contract/openapi/document.ts';
import { CONTROL_PATH } from './control-path.ts';
import { WORKER_NUMBERS } from './emulator-urls.ts';

/**
 * Writes the client of the control calls for Python 3.9 and newer, which needs no package: a method for each operation
 * of their OpenAPI document, and what tests need.
 */
export function writePythonClient(document: Pick<OpenApiDocument, 'paths'>): string {
  const methods = operationsIn(document).map(({ method, path, operation }) => writeMethod(method, path, operation));
  return fillTemplate(methods.join('\n'));
}

/** The client. Its methods stand in the class `Mailbox`. */
const fillTemplate = (
  methods: string,
) => String.raw`"""The control calls of agent-mailbox-mock, generated from its table; no package is needed.

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
    names = "${WORKER_NUMBERS.join(' ')}".split()
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
        keeps_none: bool = False,
    ) -> Any:
        fields = _given(query or {})
        if takes_sandbox and self._sandbox_id is not None:
            fields["sandbox"] = self._sandbox_id
        url = self.base_url + "${CONTROL_PATH}" + path
        if fields:
            url += "?" + urlencode({name: _text(value) for name, value in fields.items()})
        headers = {} if self._token is None else {"X-Mock-Token": self._token}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body if keeps_none else _given(body)).encode("utf-8")
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

${methods}

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

/** The type in Python that a method returns, by the media type of the reply. */
const RETURNED: Readonly<Record<string, string>> = {
  'application/json': 'Any',
  'text/html': 'str',
  'text/x-python': 'str',
  'application/octet-stream': 'bytes',
  'text/event-stream': 'Iterator[Dict[str, Any]]',
};

function writeMethod(method: string, path: string, operation: OpenApiOperation): string {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const content = Object.keys(responses[200]?.content ?? {})[0] ?? 'application/json';
  const toArgument = ({ name, schema, required }: Parameter): Argument => ({
    name,
    type: typeOf(schema),
    isRequired: required,
  });
  const inPath = parameters.filter((parameter) => parameter.in === 'path').map(toArgument);
  const inQuery = parameters.filter(({ name, in: place }) => place === 'query' && name !== 'sandbox').map(toArgument);
  const schema = requestBody?.content['application/json']?.schema;
  const inBody = schema && argumentsOf(schema);
  // A body whose fields may have any name is one argument.
  const takesAnyFields = inBody?.length === 0 && typeof schema?.additionalProperties === 'object';
  const named = takesAnyFields
    ? [{ name: 'fields', type: 'Dict[str, Any]', isRequired: true }]
    : [...inQuery, ...(inBody ?? [])].sort((one, other) => Number(other.isRequired) - Number(one.isRequired));

  const signature = ['self', ...inPath.map(({ name, type }) => `${toSnakeCase(name)}: ${type}`)];
  if (named.length > 0) signature.push('*');
  for (const { name, type, isRequired } of named) {
    signature.push(`${toSnakeCase(name)}: ${isRequired ? type : `Optional[${type}] = None`}`);
  }
  const target = path
    .slice(CONTROL_PATH.length)
    .replace(/\{(\w+)\}/g, (_, name) => `{_quote('${toSnakeCase(name)}', ${toSnakeCase(name)})}`);
  const call = [`"${method}"`, `${inPath.length > 0 ? 'f' : ''}"${target}"`];
  if (inQuery.length > 0) call.push(`query=${writeFields(inQuery)}`);
  if (inBody) call.push(`body=${takesAnyFields ? 'fields' : writeFields(inBody)}`);
  // There, None is a value of its own, such as that of a behaviour at the start.
  if (takesAnyFields) call.push('keeps_none=True');
  if (content !== 'application/json') call.push(`content="${content}"`);
  if (parameters.some(({ name }) => name === 'sandbox')) call.push('takes_sandbox=True');
  return `    def ${wrap(`${toSnakeCase(operationId)}(`, signature, `) -> ${RETURNED[content]}:`, 4)}
        """${breakLines(summary)}"""
        return ${wrap('self._call(', call, ')', 8)}
`;
}

type Parameter = NonNullable<OpenApiOperation['parameters']>[number];

/** An argument of a method: its name in a request, its type in Python, and whether it must be given. */
interface Argument {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
}

/** Lists the fields of a body. If it has several forms, no field is required, because another form may not have it. */
function argumentsOf(schema: Json): Argument[] {
  const forms = formsOf(schema);
  const byName = new Map<string, Argument>();
  for (const { properties = {}, required = [] } of forms) {
    for (const [name, field] of Object.entries(properties as Record<string, Json>)) {
      const isRequired = forms.length === 1 && (required as readonly string[]).includes(name);
      if (!byName.has(name)) byName.set(name, { name, type: typeOf(field), isRequired });
    }
  }
  return [...byName.values()];
}

/** Returns the type in Python of a value with this schema. */
function typeOf({ type }: Json): string {
  const types: Readonly<Record<string, string>> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' };
  return types[String(type)] ?? 'Any';
}

function writeFields(fields: readonly Argument[]): string {
  return wrap(
    '{',
    fields.map(({ name }) => `"${name}": ${toSnakeCase(name)}`),
    '}',
    12,
  );
}

/** Joins items on one line or, if that would be too long, on one line each. `indent` is that of the first line. */
function wrap(start: string, items: readonly string[], end: string, indent: number): string {
  const line = start + items.join(', ') + end;
  if (indent + line.length + 'return '.length <= 100 && !line.includes('\n')) return line;
  const [inner, outer] = [' '.repeat(indent + 4), ' '.repeat(indent)];
  return `${start}\n${items.map((item) => `${inner}${item},\n`).join('')}${outer}${end}`;
}

/** Breaks a docstring into lines of at most 100 characters. */
function breakLines(text: string): string {
  let line = '';
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    if (line.length + word.length < 90) line += line === '' ? word : ` ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].join('\n        ');
}

/** Writes a name as Python does. A reserved word, such as `from`, gets an underscore. */
function toSnakeCase(name: string): string {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return /^(?:from|in|is|not|or|and|class|def|for|if|with|as)$/.test(snake) ? `${snake}_` : snake;
}
