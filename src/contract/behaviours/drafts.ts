import { assumed, byReference, DELETED, defineBehaviours } from '../behaviour.ts';

/** Behaviours of the drafts of an inbox. */
export const draftBehaviours = defineBehaviours(
  { section: '4.4', observableWith: 'key' },
  {
    'drafts.shape': byReference(
      'Which fields does a draft have in a reply?',
      '{ id, inboxId, to, cc, bcc, subject, plainBody, htmlBody, replyToMessageId, createdAt, updatedAt }; ' +
        'a field that was not set is null',
      { operations: ['createDraft', 'listDrafts', 'getDraft', 'updateDraft'] },
    ),
    'drafts.list.reply': byReference('What does listing drafts return?', {
      drafts: '{ drafts }',
      'with-pagination': '{ drafts, pagination }',
    }),
    'drafts.list.order': assumed('In which order are drafts listed?', {
      'oldest-first': 'by creation, oldest first',
      'newest-first': 'by creation, newest first',
    }),
    'drafts.recipients': byReference('May to, cc and bcc of a draft contain incomplete addresses?', {
      kept: 'yes, they are kept as they are; sending a draft with an invalid address is 400, and the draft stays',
      checked: 'no, they are refused with 400, as in a send',
    }),
    'drafts.recipients.text': assumed(
      'What becomes of a text in to, cc and bcc of a draft?',
      'it is split at its commas into a list; white space around each part is removed, and empty parts are left out',
      { operations: ['createDraft', 'updateDraft'], fields: ['to', 'cc', 'bcc'] },
    ),
    'drafts.unknown-message': assumed(
      'What is the reply to setting replyToMessageId to a message that the inbox does not have?',
      { 'not-found': '404', invalid: '400' },
    ),
    'drafts.delete.body': assumed('What does deleting a draft return?', DELETED),
    'drafts.send.incomplete': assumed(
      'What does a draft need before it can be sent?',
      'a recipient: in to, cc or bcc, or the default recipients of a reply; without one, sending is 400; ' +
        'the subject may be missing',
      { operations: ['sendDraft'] },
    ),
    'drafts.send.reply': byReference(
      'What does sending a draft return, and what happens to the draft?',
      'the reply of a send plus draftId; the draft is deleted, so sending it again is 404',
      { operations: ['sendDraft'] },
    ),
  },
);
