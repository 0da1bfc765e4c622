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
    question: 'Is the to of a message a list?',
    section: '4.4',
    choices: {
      array: 'yes, always',
      string: 'no, one string with commas',
    },
    default: 'array',
    origin: 'assumed',
  },
  'messages.list.order': {
    question: 'In which order are messages listed?',
    section: '4.4',
    choices: {
      'oldest-first': 'as they arrived, so that a page stays the same when more arrive',
      'newest-first': 'the latest first; a page moves when more arrive',
    },
    default: 'oldest-first',
    origin: 'assumed',
  },
  'messages.list.pagination': {
    question: 'How are messages paged?',
    section: '4.4',
    choices: {
      fixed: 'limit 1 to 100, 50 when it is not sent; offset from 0; { pagination: { total, limit, offset } }',
    },
    default: 'fixed',
    origin: 'assumed',
  },
  'messages.list.large': {
    question: 'What does a list, or a thread, show of messages or drafts whose bodies are large?',
    section: '4.4',
    choices: {
      cut: 'bodies whole up to 16 Mi characters of JSON in all, then 1000 characters of each; reading one shows it whole',
    },
    default: 'cut',
    origin: 'assumed',
  },
  'messages.list.over-limit': {
    question: 'What answers a limit above 100?',
    section: '4.4',
    choices: {
      invalid: '400',
      clamped: 'as limit=100',
    },
    default: 'invalid',
    origin: 'assumed',
  },
  'messages.inbound.limits': {
    question: 'How much of a mail that comes in over SMTP, or as an eml, does a message show?',
    section: '8',
    choices: {
      cut: 'as much as a composed one may have: bodies of 500000 characters, a subject of 998, 50 addresses in to and in cc, 100 attachments; the raw mail is whole',
    },
    default: 'cut',
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
    question: 'What answers the id of a deleted message?',
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
    choices: {
      composed: 'message/rfc822, made of what is stored; Bcc is left out',
    },
    default: 'composed',
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
      messages:
        '{ messages, pagination } as in an inbox; with group=thread the latest message of each thread, and messageCount',
    },
    default: 'messages',
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
    choices: {
      fixed:
        'inbox: inbound, not archived; sent: outbound, not archived; starred; archived; trash: deleted, which no other has',
    },
    default: 'fixed',
    origin: 'assumed',
  },
  'messages.attachments.shape': {
    question: 'What does listing the attachments of a message answer?',
    section: '4.4',
    choices: {
      reference: '{ attachments: [{ id, filename, contentType, sizeBytes }] }',
    },
    default: 'reference',
    origin: 'reference',
  },
});
