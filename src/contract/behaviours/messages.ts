import { assumed, byReference, DELETED, defineBehaviours, EVERY_SEND } from '../behaviour.ts';

/** Behaviours of messages: reading, listing, updating, deleting, folders. */
export const messageBehaviours = defineBehaviours(
  { section: '4.4', observableWith: 'key' },
  {
    'messages.shape': assumed('Which fields does a message have in a reply?', {
      extended: 'the fields of the reference plus inboxId, cc, bcc, isStarred and isArchived',
      reference: 'the fields of the reference only',
      legacy:
        'the same as extended, plus those of an older form: fromAddress and toAddresses (an array), without display ' +
        'names; fromName, null if there is none; sentAt and createdAt, which both have the value of receivedAt',
    }),
    'messages.to': byReference('Is the "to" of a message in a reply an array?', {
      string: 'no, it is one string, with commas between several recipients',
      array: 'yes, always',
    }),
    'messages.addresses': byReference('How are the addresses of a message written in a reply: from, to, cc and bcc?', {
      bare: 'without display names, in lower case: dana@customer.test',
      display: 'with the display name, if there is one: Dana Reyes <dana@customer.test>',
    }),
    'messages.list.order': byReference(
      'In which order are messages and threads listed, in an inbox and for the whole tenant?',
      {
        'newest-first':
          'the message that was stored last comes first, even if the clock was changed; ' +
          'the messages of a fixture are stored in order of receivedAt',
        'oldest-first': 'the reverse order, so that a page does not change when more messages arrive',
      },
    ),
    'messages.list.pagination': assumed(
      'How are lists of messages, threads and drafts paged?',
      'limit is 1 to 200, by default 50; offset starts at 0; the reply has pagination: { total, limit, offset }',
      { operations: ['listMessages', 'listAllMessages', 'listThreads', 'listDrafts'], fields: ['limit', 'offset'] },
    ),
    'messages.list.large': assumed(
      'How does a list or a thread show messages or drafts with large bodies?',
      'bodies are complete until their total length reaches 16,777,216 characters, counted as written in JSON; ' +
        'each body after that is cut to 1000 characters; reading a single message or draft returns its complete bodies',
      {
        operations: ['listMessages', 'listAllMessages', 'getThread', 'listDrafts'],
        observableWith: 'not from outside: no experiment reaches a limit',
      },
    ),
    'messages.list.over-limit': assumed('What is the reply to a limit above 200?', {
      clamped: 'the same as with limit=200',
      invalid: '400',
    }),
    'messages.inbound.limits': assumed(
      'Which limits apply to a message that arrives over SMTP or as raw mail (eml)?',
      'the same as for a message that receiveMessage gets as separate fields (from, to, subject, text): bodies of ' +
        '500000 characters, a subject of 998 characters, 50 addresses each in to and cc, 100 attachments; ' +
        'a longer body or subject is cut to the limit, and further addresses and attachments are left out; ' +
        'of the parts, and of the addresses in a field, the first 1000 are read; a header above 256 KiB is refused; ' +
        'the raw mail stays complete',
      { observableWith: 'not from outside: no experiment reaches a limit', section: '8' },
    ),
    'messages.inbound.sender': assumed(
      'Which sender does a message have if its From is missing, empty or repeated, or has no complete address?',
      'the first address of the first From to which mail can be sent; if there is none, the first address or words ' +
        'that From has, as they are, and the message cannot be answered; if From is missing or empty, the address in ' +
        'Sender; if there is none, the envelope sender; if the envelope sender is also empty, from is empty, and the ' +
        'message cannot be answered',
      { observableWith: 'mail from outside' },
    ),
    'messages.inbound.unreadable': assumed(
      'How does a reply show the parts of raw mail that cannot be decoded, or that are neither a body nor an ' +
        'ordinary file?',
      'a byte that its charset does not have becomes U+FFFD; text in an unknown charset is read as windows-1252; ' +
        'characters that base64 does not have are left out; a part in an unknown encoding is shown as it is; ' +
        'a multipart without its boundary is a text; plainBody has no text made from HTML; ' +
        'if there is HTML, htmlBody also has each text that is not an alternative to it; ' +
        'CR is the line end of a mail without LF; a calendar, a winmail.dat or an embedded mail becomes an ' +
        'attachment; an attachment has the bytes of its part, with the line ends of the mail, but the lines of an ' +
        'embedded mail end with CRLF; the raw mail stays complete, and the reply of the control call listMail names each part that ' +
        'could not be read',
      { observableWith: 'mail from outside' },
    ),
    'messages.sent.is-read': assumed('What is isRead of a sent message?', 'true: its sender knows it', {
      operations: EVERY_SEND,
    }),
    'messages.get.marks-read': byReference('Does reading a message mark it as read?', {
      yes: 'yes, before it is returned',
      no: 'no',
    }),
    'messages.update.reply': assumed('What does updating a message return?', {
      'updated-and-id': '{ updated: true, id }',
      message: 'the message',
    }),
    'messages.update.deleted': byReference('What is the reply to updating a deleted message?', {
      changed: 'success: it is updated like any other, and stays in the trash',
      'not-found': '404',
    }),
    'messages.answer.deleted': byReference(
      'What is the reply to answering or forwarding a deleted message, also by a draft?',
      {
        sent: 'success: it is answered or forwarded like any other, and stays in the trash',
        'not-found': '404; for a draft, see drafts.unknown-message',
      },
    ),
    'messages.delete.body': assumed('What does deleting a message return?', DELETED),
    'messages.delete.deleted': byReference('What is the reply to deleting a message that was already deleted?', {
      removed:
        'success: it is removed for good with its files, also from its thread, from metrics and from drafts that ' +
        'answer it, as if it had never arrived or been sent',
      'not-found': '404; it stays in the trash',
    }),
    'messages.deleted': assumed('What is the reply to reading a deleted message, its raw form or its files?', {
      'not-found': '404; only its thread and the trash folder still show it',
      shown: 'the same as if it were not deleted',
    }),
    'messages.raw': assumed(
      'What is the raw form of a message?',
      'message/rfc822: the received bytes, if the message arrived as raw mail; ' +
        'otherwise it is generated from the stored fields, without Bcc',
      { operations: ['getRawMessage'] },
    ),
    'messages.raw.trace': assumed(
      'Does the raw form begin with what the receiving mail server adds?',
      {
        shown:
          'yes, if the mail has an envelope: Return-Path, Authentication-Results and Received come before it, and the ' +
          'last two name the emulator; mail that arrives over SMTP or as separate fields always has an envelope, raw ' +
          'mail only if receiveMessage got envelopeFrom or auth',
        hidden: 'no',
      },
      { observableWith: 'mail from outside' },
    ),
    'messages.attachments.disposition': assumed(
      'With which Content-Disposition is an attachment returned?',
      { attachment: 'attachment, with its file name', inline: 'inline, with its file name' },
      { observableWith: 'mail from outside' },
    ),
    'messages.all.shape': byReference('What does the tenant-wide list of messages return?', {
      rows:
        '{ messages: [{ id, inboxId, inboxUsername, inboxDomain, direction, from, to, subject, snippet, isRead, ' +
        'isStarred, isArchived, receivedAt, threadId, threadCount, threadUnreadCount }], pagination }; ' +
        'with group=thread, only the latest message of each thread',
      messages:
        '{ messages, pagination }; each message has the fields that the list of one inbox shows; ' +
        'with group=thread, only the latest message of each thread, with messageCount',
    }),
    'messages.all.snippet': assumed(
      'What is the snippet of a message in the tenant-wide list?',
      'the first 160 characters of the plain body or, if that is empty, of the text of the HTML body; ' +
        'white space is reduced to single spaces',
      { operations: ['listAllMessages'] },
    ),
    'messages.all.thread-counts': assumed(
      'What do threadCount and threadUnreadCount count in the tenant-wide list?',
      'threadCount: how many messages the thread has in the inbox of the listed message; ' +
        'deleted messages count, because the thread still shows them; threadUnreadCount: how many of these are ' +
        'unread and not deleted',
      { operations: ['listAllMessages'] },
    ),
    'messages.all.folder': assumed('What does the tenant-wide list contain when the request names no folder?', {
      all: 'every message that is not deleted',
      inbox: 'the messages of the folder inbox',
    }),
    'messages.folders': assumed(
      'Which messages does each folder contain?',
      'inbox: inbound and not archived; sent: outbound and not archived; starred: isStarred is true; ' +
        'archived: isArchived is true; trash: deleted messages, which no other folder contains',
      { operations: ['listAllMessages', 'countFolders'], fields: ['folder'] },
    ),
    'messages.folders.counts': byReference('What does counting the folders return?', {
      objects:
        '{ inbox: { unread, total }, sent: { total }, starred: { total }, archived: { total }, trash: { total } }',
      numbers: '{ inbox: { unread, total }, sent, starred, archived, trash }; each is a number, except inbox',
    }),
    'messages.attachments.shape': byReference(
      'What does listing the attachments of a message return?',
      '{ attachments: [{ id, filename, contentType, sizeBytes }] }, in the order of the mail',
      { operations: ['listAttachments'], observableWith: 'mail from outside' },
    ),
  },
);
