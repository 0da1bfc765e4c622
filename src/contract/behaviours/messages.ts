import { defineBehaviours } from '../behaviour.ts';

/** Reading messages. */
export const messageBehaviours = defineBehaviours({
  'messages.shape': {
    question: 'What is a message in a reply?',
    section: '4.4',
    choices: {
      extended: 'the fields of the reference, and inboxId, cc, bcc, isStarred and isArchived',
      reference: 'the fields of the reference only',
    },
    default: 'extended',
    origin: 'assumed',
  },
  'messages.to': {
    question: 'Is the to of a message in a reply a list?',
    section: '4.4',
    choices: {
      string: 'no, one string; several recipients with commas between them',
      array: 'yes, always',
    },
    default: 'string',
    origin: 'reference',
  },
  'messages.from': {
    question: 'How is the sender of a message written in a reply?',
    section: '4.4',
    choices: {
      display: 'with the display name, if there is one: Dana Reyes <dana@customer.test>',
      bare: 'the address alone, in lower case',
    },
    default: 'display',
    origin: 'assumed',
  },
  'messages.list.order': {
    question: 'In which order are messages and threads listed, in an inbox and tenant-wide?',
    section: '4.4',
    choices: {
      'newest-first':
        'the latest to arrive or be sent first, whatever the clock was then; those of a fixture came by their receivedAt',
      'oldest-first': 'the other way round, so that a page stays the same when more arrive',
    },
    default: 'newest-first',
    origin: 'reference',
  },
  'messages.list.pagination': {
    question: 'How are messages, threads and drafts paged?',
    section: '4.4',
    assumption: 'limit 1 to 200, 50 when it is not sent; offset from 0; { pagination: { total, limit, offset } }',
    origin: 'assumed',
    shapes: ['query', 'reply'],
  },
  'messages.list.large': {
    question: 'What does a list, or a thread, show of messages or drafts whose bodies are large?',
    section: '4.4',
    assumption:
      'bodies whole up to 16 Mi characters of JSON in all, then 1000 characters of each; reading one shows it whole',
    origin: 'assumed',
  },
  'messages.list.over-limit': {
    question: 'What answers a limit above 200?',
    section: '4.4',
    choices: {
      clamped: 'as limit=200',
      invalid: '400',
    },
    default: 'clamped',
    origin: 'assumed',
  },
  'messages.inbound.limits': {
    question: 'How much of a mail that comes in over SMTP, or as an eml, does a message show?',
    section: '8',
    assumption:
      'as much as a composed one may have: bodies of 500000 characters, a subject of 998, 50 addresses in to and in cc, 100 attachments; the raw mail is whole',
    origin: 'assumed',
  },
  'messages.get.marks-read': {
    question: 'Does reading a message mark it read?',
    section: '4.4',
    choices: {
      yes: 'yes, before it is returned',
      no: 'no',
    },
    default: 'yes',
    origin: 'reference',
  },
  'messages.update.reply': {
    question: 'What does changing a message answer?',
    section: '4.4',
    choices: {
      'updated-and-id': '{ updated: true, id }',
      message: 'the message',
    },
    default: 'updated-and-id',
    origin: 'assumed',
  },
  'messages.update.deleted': {
    question: 'What answers changing a message that is in the trash?',
    section: '4.4',
    choices: {
      changed: 'it is changed as any other',
      'not-found': '404, unless messages.deleted is shown',
    },
    default: 'changed',
    origin: 'assumed',
  },
  'messages.delete.body': {
    question: 'What does deleting a message answer?',
    section: '4.4',
    choices: {
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    },
    default: 'deleted-and-id',
    origin: 'assumed',
  },
  'messages.deleted': {
    question: 'What answers the id of a deleted message, but for changing it?',
    section: '4.4',
    choices: {
      'not-found': '404; only its thread and the trash folder still show it',
      shown: 'the message as before',
    },
    default: 'not-found',
    origin: 'assumed',
  },
  'messages.raw': {
    question: 'What is the raw form of a message?',
    section: '4.4',
    assumption: 'message/rfc822, made of what is stored; Bcc is left out',
    origin: 'assumed',
  },
  'messages.attachments.disposition': {
    question: 'How is an attachment handed out?',
    section: '4.4',
    choices: {
      attachment: 'Content-Disposition: attachment, with its file name',
      inline: 'Content-Disposition: inline, with its file name',
    },
    default: 'attachment',
    origin: 'assumed',
  },
  'messages.all.shape': {
    question: 'What do the tenant-wide rows look like?',
    section: '4.4',
    choices: {
      rows: '{ messages, pagination } of { id, inboxId, inboxUsername, inboxDomain, direction, from, to, subject, snippet, isRead, isStarred, isArchived, receivedAt, threadId, threadCount, threadUnreadCount }; with group=thread the latest message of each thread',
      messages:
        '{ messages, pagination } as in an inbox; with group=thread the latest message of each thread, and messageCount',
    },
    default: 'rows',
    origin: 'reference',
  },
  'messages.all.snippet': {
    question: 'What is the snippet of a tenant-wide row?',
    section: '4.4',
    assumption:
      'the first 160 characters of the plain body, or else of the text of the HTML, with white space folded to single spaces',
    origin: 'assumed',
  },
  'messages.all.thread-counts': {
    question: 'What do threadCount and threadUnreadCount of a tenant-wide row count?',
    section: '4.4',
    assumption:
      'every message of the thread in its inbox, deleted ones included as in the thread itself; and those of them that are unread and not deleted',
    origin: 'assumed',
  },
  'messages.all.folder': {
    question: 'What does the tenant-wide list show when no folder is named?',
    section: '4.4',
    choices: {
      all: 'everything that is not deleted',
      inbox: 'the folder inbox',
    },
    default: 'all',
    origin: 'assumed',
  },
  'messages.folders': {
    question: 'What is in which folder?',
    section: '4.4',
    assumption:
      'inbox: inbound, not archived; sent: outbound, not archived; starred; archived; trash: deleted, which no other has',
    origin: 'assumed',
  },
  'messages.folders.counts': {
    question: 'What does counting the folders answer?',
    section: '4.4',
    choices: {
      objects:
        '{ inbox: { unread, total }, sent: { total }, starred: { total }, archived: { total }, trash: { total } }',
      numbers: '{ inbox: { unread, total }, sent, starred, archived, trash }, numbers but for inbox',
    },
    default: 'objects',
    origin: 'reference',
  },
  'messages.attachments.shape': {
    question: 'What does listing the attachments of a message answer?',
    section: '4.4',
    assumption: '{ attachments: [{ id, filename, contentType, sizeBytes }] }',
    origin: 'reference',
  },
});
