import { defineBehaviours } from '../behaviour.ts';

/** Drafts. */
export const draftBehaviours = defineBehaviours({
  'drafts.shape': {
    question: 'What is a draft in a reply?',
    section: '4.4',
    assumption:
      '{ id, inboxId, to, cc, bcc, subject, plainBody, htmlBody, replyToMessageId, createdAt, updatedAt }; null where nothing was set',
    origin: 'reference',
  },
  'drafts.list.reply': {
    question: 'What does listing drafts answer?',
    section: '4.4',
    choices: {
      drafts: '{ drafts }',
      'with-pagination': '{ drafts, pagination }',
    },
    default: 'drafts',
    origin: 'reference',
  },
  'drafts.list.order': {
    question: 'In which order are drafts listed?',
    section: '4.4',
    choices: {
      'oldest-first': 'as they were created',
      'newest-first': 'the latest first',
    },
    default: 'oldest-first',
    origin: 'assumed',
  },
  'drafts.recipients': {
    question: 'May to, cc and bcc of a draft be what is half typed?',
    section: '4.4',
    choices: {
      kept: 'yes, it is kept as it is; sending a draft with what is no address is 400, and the draft stays',
      checked: 'no, 400 as when sending',
    },
    default: 'kept',
    origin: 'reference',
  },
  'drafts.unknown-message': {
    question: 'What answers a replyToMessageId that the inbox does not have, when it is set?',
    section: '4.4',
    choices: {
      'not-found': '404',
      invalid: '400',
    },
    default: 'not-found',
    origin: 'assumed',
  },
  'drafts.delete.body': {
    question: 'What does deleting a draft answer?',
    section: '4.4',
    choices: {
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    },
    default: 'deleted-and-id',
    origin: 'assumed',
  },
  'drafts.send.incomplete': {
    question: 'What does a draft need to be sent?',
    section: '4.4',
    assumption: 'a recipient: to, cc or bcc, or else whom a reply goes to; otherwise 400. The subject may be missing',
    origin: 'assumed',
  },
  'drafts.send.reply': {
    question: 'What does sending a draft answer, and what becomes of the draft?',
    section: '4.4',
    assumption: 'as sending, and draftId; the draft is deleted, and sending it again is 404',
    origin: 'reference',
  },
});
