import { defineBehaviours } from '../behaviour.ts';

export const draftBehaviours = defineBehaviours({
  'drafts.shape': {
    question: 'Which fields does a draft have in a reply?',
    section: '4.4',
    assumption:
      '{ id, inboxId, to, cc, bcc, subject, plainBody, htmlBody, replyToMessageId, createdAt, updatedAt }; a field that was not set is null',
    origin: 'reference',
  },
  'drafts.list.reply': {
    question: 'What does listing drafts return?',
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
      'oldest-first': 'by creation, oldest first',
      'newest-first': 'by creation, newest first',
    },
    default: 'oldest-first',
    origin: 'assumed',
  },
  'drafts.recipients': {
    question: 'May to, cc and bcc of a draft contain incomplete addresses?',
    section: '4.4',
    choices: {
      kept: 'yes, they are kept as they are; sending a draft with an invalid address is 400, and the draft stays',
      checked: 'no, they are refused with 400, as in a send',
    },
    default: 'kept',
    origin: 'reference',
  },
  'drafts.unknown-message': {
    question: 'What is the reply to setting replyToMessageId to a message that the inbox does not have?',
    section: '4.4',
    choices: {
      'not-found': '404',
      invalid: '400',
    },
    default: 'not-found',
    origin: 'assumed',
  },
  'drafts.delete.body': {
    question: 'What does deleting a draft return?',
    section: '4.4',
    choices: {
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    },
    default: 'deleted-and-id',
    origin: 'assumed',
  },
  'drafts.send.incomplete': {
    question: 'What does a draft need before it can be sent?',
    section: '4.4',
    assumption:
      'a recipient: in to, cc or bcc, or the default recipients of a reply; without one, sending is 400; the subject may be missing',
    origin: 'assumed',
  },
  'drafts.send.reply': {
    question: 'What does sending a draft return, and what happens to the draft?',
    section: '4.4',
    assumption: 'the reply of a send plus draftId; the draft is deleted, so sending it again is 404',
    origin: 'reference',
  },
});
