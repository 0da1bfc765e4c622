import { defineBehaviours } from '../behaviour.ts';

export const draftBehaviours = defineBehaviours('4.4', 'key', {
  'drafts.shape': {
    question: 'Which fields does a draft have in a reply?',
    assumption:
      '{ id, inboxId, to, cc, bcc, subject, plainBody, htmlBody, replyToMessageId, createdAt, updatedAt }; ' +
      'a field that was not set is null',
    origin: 'reference',
  },
  'drafts.list.reply': {
    question: 'What does listing drafts return?',
    choices: { drafts: '{ drafts }', 'with-pagination': '{ drafts, pagination }' },
    origin: 'reference',
  },
  'drafts.list.order': {
    question: 'In which order are drafts listed?',
    choices: { 'oldest-first': 'by creation, oldest first', 'newest-first': 'by creation, newest first' },
  },
  'drafts.recipients': {
    question: 'May to, cc and bcc of a draft contain incomplete addresses?',
    choices: {
      kept: 'yes, they are kept as they are; sending a draft with an invalid address is 400, and the draft stays',
      checked: 'no, they are refused with 400, as in a send',
    },
    origin: 'reference',
  },
  'drafts.unknown-message': {
    question: 'What is the reply to setting replyToMessageId to a message that the inbox does not have?',
    choices: { 'not-found': '404', invalid: '400' },
  },
  'drafts.delete.body': {
    question: 'What does deleting a draft return?',
    choices: { 'deleted-and-id': '{ deleted: true, id }', empty: '{}' },
  },
  'drafts.send.incomplete': {
    question: 'What does a draft need before it can be sent?',
    assumption:
      'a recipient: in to, cc or bcc, or the default recipients of a reply; without one, sending is 400; ' +
      'the subject may be missing',
  },
  'drafts.send.reply': {
    question: 'What does sending a draft return, and what happens to the draft?',
    assumption: 'the reply of a send plus draftId; the draft is deleted, so sending it again is 404',
    origin: 'reference',
  },
});
