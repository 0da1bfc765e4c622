import { defineBehaviours } from '../behaviour.ts';

/** Behaviours of messages: reading, listing, updating, deleting, folders. */
export const messageBehaviours = defineBehaviours('4.4', 'key', {
  'messages.shape': {
    question: 'Which fields does a message have in a reply?',
    choices: {
      extended: 'the fields of the reference plus inboxId, cc, bcc, isStarred and isArchived',
      reference: 'the fields of the reference only',
      legacy:
        'the same as extended, plus those of an older form: fromAddress and toAddresses (an array), without display ' +
        'names; fromName, null if there is none; sentAt and createdAt, which both have the value of receivedAt',
    },
  },
  'messages.to': {
    question: 'Is the "to" of a message in a reply an array?',
    choices: { string: 'no, it is one string, with commas between several recipients', array: 'yes, always' },
    origin: 'reference',
  },
  'messages.addresses': {
    question: 'How are the addresses of a message written in a reply: from, to, cc and bcc?',
    choices: {
      bare: 'without display names, in lower case: dana@customer.test',
      display: 'with the display name, if there is one: Dana Reyes <dana@customer.test>',
    },
    origin: 'reference',
  },
  'messages.list.order': {
    question: 'In which order are messages and threads listed, in an inbox and for the whole tenant?',
    choices: {
      'newest-first':
        'the message that was stored last comes first, even if the clock was changed; ' +
        'the messages of a fixture are stored in order of receivedAt',
      'oldest-first': 'the reverse order, so that a page does not change when more messages arrive',
    },
    origin: 'reference',
  },
  'messages.list.pagination': {
    question: 'How are lists of messages, threads and drafts paged?',
    assumption:
      'limit is 1 to 200, by default 50; offset starts at 0; the reply has pagination: { total, limit, offset }',
    affects: ['query', 'reply'],
  },
  'messages.list.large': {
    told: 'not from outside: no experiment fills a limit',
    question: 'How does a list or a thread show messages or drafts with large bodies?',
    assumption:
      'bodies are complete until their total length reaches 16,777,216 characters, counted as written in JSON; ' +
      'each body after that is cut to 1000 characters; reading a single message or draft returns its complete bodies',
  },
  'messages.list.over-limit': {
    question: 'What is the reply to a limit above 200?',
    choices: { clamped: 'the same as with limit=200', invalid: '400' },
  },
  'messages.inbound.limits': {
    told: 'not from outside: no experiment fills a limit',
    question: 'Which limits apply to a message that arrives over SMTP or as raw mail (eml)?',
    section: '8',
    assumption:
      'the same as for a message that receiveMessage gets as separate fields (from, to, subject, text): bodies of ' +
      '500000 characters, a subject of 998 characters, 50 addresses each in to and cc, 100 attachments; ' +
      'a longer body or subject is cut to the limit, and further addresses and attachments are left out; ' +
      'of the parts, and of the addresses in a field, the first 1000 are read; a header above 256 KiB is refused; ' +
      'the raw mail stays complete',
  },
  'messages.inbound.sender': {
    told: 'mail from outside',
    question: 'Which sender does a message have if its From is missing, empty or repeated?',
    assumption:
      'the first address of the first From; if there is none, the address in Sender; ' +
      'if there is none, the envelope sender; if the envelope sender is also empty, from is empty, and the message ' +
      'cannot be answered',
  },
  'messages.inbound.unreadable': {
    told: 'mail from outside',
    question:
      'How does a reply show the parts of raw mail that cannot be decoded, or that are neither a body nor an ' +
      'ordinary file?',
    assumption:
      'a byte that its charset does not have becomes U+FFFD; text in an unknown charset is read as windows-1252; ' +
      'characters that base64 does not have are left out; a part in an unknown encoding is shown as it is; ' +
      'a multipart without its boundary is a text; plainBody has no text made from HTML; ' +
      'htmlBody, if there is HTML, also has each text that is no alternative to it; ' +
      'CR is the line end of a mail without LF; a calendar, a winmail.dat or an embedded mail becomes an ' +
      'attachment; the raw mail stays complete, and the reply of the control call listMail names each part that ' +
      'could not be read',
  },
  'messages.get.marks-read': {
    question: 'Does reading a message mark it as read?',
    choices: { yes: 'yes, before it is returned', no: 'no' },
    origin: 'reference',
  },
  'messages.update.reply': {
    question: 'What does updating a message return?',
    choices: { 'updated-and-id': '{ updated: true, id }', message: 'the message' },
  },
  'messages.update.deleted': {
    question: 'What is the reply to updating a deleted message?',
    choices: { changed: 'success: it is updated like any other, and stays in the trash', 'not-found': '404' },
    origin: 'reference',
  },
  'messages.answer.deleted': {
    question: 'What is the reply to answering or forwarding a deleted message, also by a draft?',
    choices: {
      sent: 'success: it is answered or forwarded like any other, and stays in the trash',
      'not-found': '404; for a draft, see drafts.unknown-message',
    },
    origin: 'reference',
  },
  'messages.delete.body': {
    question: 'What does deleting a message return?',
    choices: { 'deleted-and-id': '{ deleted: true, id }', empty: '{}' },
  },
  'messages.delete.deleted': {
    question: 'What is the reply to deleting a message that was already deleted?',
    choices: {
      removed:
        'success: it is removed for good with its files, also from its thread, from metrics and from drafts that ' +
        'answer it, as if it had never arrived or been sent',
      'not-found': '404; it stays in the trash',
    },
    origin: 'reference',
  },
  'messages.deleted': {
    question: 'What is the reply to reading a deleted message, its raw form or its files?',
    choices: {
      'not-found': '404; only its thread and the trash folder still show it',
      shown: 'the same as if it were not deleted',
    },
  },
  'messages.raw': {
    question: 'What is the raw form of a message?',
    assumption:
      'message/rfc822: the received bytes, if the message arrived as raw mail; ' +
      'otherwise it is generated from the stored fields, without Bcc',
  },
  'messages.raw.trace': {
    told: 'mail from outside',
    question: 'Does the raw form begin with what the receiving mail server adds?',
    choices: {
      shown:
        'yes, if the mail has an envelope: Return-Path, Authentication-Results and Received come before it, and the ' +
        'last two name the emulator; mail that arrives over SMTP or as separate fields always has an envelope, raw ' +
        'mail only if receiveMessage got envelopeFrom or auth',
      hidden: 'no',
    },
  },
  'messages.attachments.disposition': {
    told: 'mail from outside',
    question: 'With which Content-Disposition is an attachment returned?',
    choices: { attachment: 'attachment, with its file name', inline: 'inline, with its file name' },
  },
  'messages.all.shape': {
    question: 'What does the tenant-wide list of messages return?',
    choices: {
      rows:
        '{ messages: [{ id, inboxId, inboxUsername, inboxDomain, direction, from, to, subject, snippet, isRead, ' +
        'isStarred, isArchived, receivedAt, threadId, threadCount, threadUnreadCount }], pagination }; ' +
        'with group=thread, only the latest message of each thread',
      messages:
        '{ messages, pagination }; each message has the fields that the list of one inbox shows; ' +
        'with group=thread, only the latest message of each thread, with messageCount',
    },
    origin: 'reference',
  },
  'messages.all.snippet': {
    question: 'What is the snippet of a message in the tenant-wide list?',
    assumption:
      'the first 160 characters of the plain body or, if that is empty, of the text of the HTML body; ' +
      'white space is reduced to single spaces',
  },
  'messages.all.thread-counts': {
    question: 'What do threadCount and threadUnreadCount count in the tenant-wide list?',
    assumption:
      'threadCount: how many messages the thread has in the inbox of the listed message; ' +
      'deleted ones count, because the thread still shows them; threadUnreadCount: how many of these are unread and ' +
      'not deleted',
  },
  'messages.all.folder': {
    question: 'What does the tenant-wide list contain when the request names no folder?',
    choices: { all: 'every message that is not deleted', inbox: 'the messages of the folder inbox' },
  },
  'messages.folders': {
    question: 'Which messages does each folder contain?',
    assumption:
      'inbox: inbound and not archived; sent: outbound and not archived; starred: isStarred is true; ' +
      'archived: isArchived is true; trash: deleted messages, which no other folder contains',
  },
  'messages.folders.counts': {
    question: 'What does counting the folders return?',
    choices: {
      objects:
        '{ inbox: { unread, total }, sent: { total }, starred: { total }, archived: { total }, trash: { total } }',
      numbers: '{ inbox: { unread, total }, sent, starred, archived, trash }; each is a number, except inbox',
    },
    origin: 'reference',
  },
  'messages.attachments.shape': {
    told: 'mail from outside',
    question: 'What does listing the attachments of a message return?',
    assumption: '{ attachments: [{ id, filename, contentType, sizeBytes }] }',
    origin: 'reference',
  },
});
