"""Reads mails, one in base64 on each line, and writes what the email package of Python makes of them as JSON."""

import base64
import email
import email.policy
import hashlib
import json
import sys
from datetime import timezone


def fixed(value):
    """A text of a header; raw UTF-8 (RFC 6532) is kept as surrogates by Python."""
    return str(value or "").encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def people(message, name):
    """The addresses of all fields with a name."""
    fields = message.get_all(name) or []
    return [
        {"name": fixed(address.display_name), "address": fixed(f"{address.username}@{address.domain}")}
        for field in fields
        for address in field.addresses
    ]


def ids(message, name):
    return fixed(message[name]).split()


def leaves(part):
    """The parts that contain no others; a mail in a mail is one part."""
    if part.get_content_maintype() == "multipart":
        for child in part.iter_parts():
            yield from leaves(child)
    else:
        yield part


def digest(part):
    """A hash of a file. Parsers differ in how they write out a mail in a mail, and in the newlines of a text."""
    if part.get_content_maintype() == "message":
        return ""
    content = part.get_payload(decode=True)
    if part.get_content_maintype() == "text":
        content = content.replace(b"\r\n", b"\n").rstrip(b"\n")
    return hashlib.sha256(content).hexdigest()


def text(part):
    return "" if part is None else part.get_content().replace("\r\n", "\n").rstrip("\n")


def date(message):
    try:
        value = message["date"].datetime
    except (AttributeError, TypeError, ValueError):
        return ""
    if value is None:
        return ""
    # A time with -0000 has no zone in Python; it is in UTC.
    value = value.replace(tzinfo=timezone.utc) if value.tzinfo is None else value.astimezone(timezone.utc)
    return value.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def read(raw):
    message = email.message_from_bytes(raw, policy=email.policy.default)
    plain = message.get_body(preferencelist=("plain",))
    html = message.get_body(preferencelist=("html",))
    files = [part for part in leaves(message) if part is not plain and part is not html]
    return {
        "from": people(message, "from"),
        "to": people(message, "to"),
        "replyTo": people(message, "reply-to"),
        "subject": fixed(message["subject"]),
        "date": date(message),
        "messageId": fixed(message["message-id"]),
        "inReplyTo": fixed(message["in-reply-to"]),
        "references": ids(message, "references"),
        "plainBody": text(plain),
        "htmlBody": text(html),
        "files": [
            {
                "filename": part.get_filename() or "",
                "contentType": part.get_content_type(),
                "hash": digest(part),
            }
            for part in files
        ],
    }


print(json.dumps([read(base64.b64decode(line)) for line in sys.stdin if line.strip()]))
