import { assumed, defineBehaviours } from '../behaviour.ts';

/** Behaviours of IMAP, and of mail that a program submits over SMTP. */
export const imapBehaviours = defineBehaviours(
  { section: '1', observableWith: 'not from outside: it needs a mail client, and verify has none' },
  {
    'imap.folders': assumed(
      'Which folders does an inbox have over IMAP?',
      'INBOX, Sent, Drafts, Archive and Trash, which show the messages and drafts of the API; \\Seen is isRead and ' +
        '\\Flagged is isStarred; no folder can be created, renamed or deleted',
    ),
    'imap.copy': assumed('What happens when an IMAP client copies a message to another folder?', {
      'second-message':
        'there is a second message with an id of its own; if the client then deletes the first message (\\Deleted and ' +
        'EXPUNGE), the first message takes the place of the copy, as after MOVE',
      refused: 'NO [CANNOT], so that only MOVE puts a message into another folder',
    }),
    'imap.append.inbox': assumed('What happens when an IMAP client stores a mail in INBOX?', {
      stored: 'there is an inbound message, and no event',
      received: 'there is an inbound message, and message.received is published',
      refused: 'NO [CANNOT]',
    }),
    'imap.append': assumed(
      'What happens when an IMAP client stores a mail in another folder?',
      'in Drafts there is a draft; in Sent an outbound message, which is not sent, or nothing if Sent has a message ' +
        'with this Message-ID; in Archive and Trash a message, which is outbound if an address of the inbox sent it; ' +
        'each has exactly the bytes of the mail',
    ),
    'submission.verified': assumed(
      'May a program submit mail over SMTP to an address that has never written to the inbox?',
      { sent: 'yes, because SMTP has no field verified', checked: 'no: 550, as for a send without verified: true' },
    ),
    'inboxes.mail-servers': assumed(
      'Which host and port do imap and smtp of an inbox show?',
      {
        listening: 'the host and port of the emulator if it listens; otherwise those of the service',
        service: 'those of the service: imap.mailbox.test, port 993, and smtp.mailbox.test, port 587',
      },
      { observableWith: 'not from outside: only the emulator listens at addresses of its own', section: '4.4' },
    ),
  },
);
