import { assumed, byReference, defineBehaviours, EVERY_SEND, SENDS } from '../behaviour.ts';

/** Behaviours of sending, replying and forwarding. */
export const sendBehaviours = defineBehaviours(
  { section: '4.4', observableWith: 'key' },
  {
    'sending.required': byReference('Which fields does sending require?', 'to and subject; the body may be empty', {
      operations: ['sendMessage'],
      fields: ['to', 'subject', 'plainBody'],
    }),
    'sending.empty-subject': assumed(
      'May the subject of a mail be empty?',
      'yes: the field is required, but its text may be empty',
      { operations: ['sendMessage'], fields: ['subject'] },
    ),
    'sending.subject': assumed(
      'May a subject have line breaks?',
      'no: a CR, an LF and a NUL are refused with 400, also in a draft',
      { operations: ['sendMessage', 'forwardMessage', 'createDraft', 'updateDraft'], fields: ['subject'] },
    ),
    'sending.repeated-recipients': assumed(
      'What happens to a recipient that a mail names more than once?',
      'the mail arrives once; to, cc and bcc are kept as they were sent',
      { operations: EVERY_SEND, fields: ['to', 'cc', 'bcc'] },
    ),
    'sending.reply': assumed('What does sending return?', {
      'message-id-header': '{ id, threadId, status: "sent", messageId }; messageId is the Message-ID header',
      'message-id': 'the same, but messageId is the id',
    }),
    'sending.verified': assumed(
      'What is the reply to sending to an address that has never written to the inbox, without verified: true?',
      { forbidden: '403 UNVERIFIED_RECIPIENT', invalid: '400', sent: 'success: the message is sent' },
    ),
    'sending.verified.scope': assumed('Which operations refuse recipients that have never written to the inbox?', {
      send: 'a plain send, the only operation with the field verified',
      'send-and-forward': 'a plain send and a forward',
      'every-send':
        'a plain send, a forward, a reply (only the cc and bcc of the request), a reply to all and sending a draft',
    }),
    'sending.simulators': assumed(
      'Do the addresses at simulator.test simulate results?',
      {
        on:
          'yes: bounce@, relay-error@, pause@, resume@ and success@, also with a plus tag; ' +
          'they do not need verified: true',
        off: 'no, they are addresses like any other',
      },
      { observableWith: 'not from outside: no experiment writes to an address outside' },
    ),
    'sending.paused': byReference(
      'What does a paused inbox refuse?',
      'sends, replies, forwards and the sending of drafts, with 403 INBOX_PAUSED; mail to the inbox still arrives',
      { operations: EVERY_SEND, observableWith: 'not from outside: only a simulator address pauses an inbox' },
    ),
    'sending.plan-limit': assumed(
      'Which plan limits do sends have?',
      'none: no send gets the 403 that the reference names for a plan limit, unless a fault returns it',
      { operations: EVERY_SEND, observableWith: 'not from outside: no experiment reaches a limit', section: '8' },
    ),
    'sending.local': assumed(
      'Where is sent mail delivered?',
      'in the inboxes of this emulator, of any tenant, immediately; mail to any other address counts as delivered, ' +
        'but never leaves the emulator',
      { operations: EVERY_SEND },
    ),
    'sending.loops': assumed(
      'What happens to the mail of two addresses that answer each other without an end?',
      'if two addresses have exchanged more than 50 mails within a minute, a further mail is sent, but held: it does ' +
        'not arrive; loopLimit sets another number',
      { operations: EVERY_SEND, observableWith: 'not from outside: no experiment reaches a limit' },
    ),
    'sending.unknown-user': assumed(
      'What happens to mail for an unknown address at a domain of this emulator?',
      { bounced: 'it bounces', accepted: 'it counts as delivered' },
      { observableWith: 'receiver' },
    ),
    'sending.bounce.detection': assumed(
      'Which inbound mail reports that a sent mail bounced?',
      'a delivery report (RFC 3464) with a failed recipient, whose status may stand in the Diagnostic-Code alone; or ' +
        'a free text about a failure, if the null sender or a mail system sent it or if it is a multipart/report ' +
        'without a part for programs, and if it has evidence: a status code next to an address, X-Failed-Recipients, the ' +
        'returned mail or, from the null sender, the subject or the address of a mail system; a permanent status has ' +
        'priority over words such as delayed; the sent mail is found by the Message-ID of the returned mail, ' +
        'In-Reply-To, References or a Message-ID in the text; otherwise it is the latest mail of the same inbox to ' +
        'the failed recipient; the report is stored like any mail; reports of a delay or a success, and read receipts ' +
        '(RFC 8098), are not bounces',
      { observableWith: 'not from outside: it needs the reports of many mail systems', section: '6' },
    ),
    'sending.bounce.report': assumed(
      'Does the inbox get a delivery report if its mail bounces within the emulator?',
      {
        none: 'no, only message.bounced is published, once for a mail',
        inbox:
          'yes, one from the null sender for each recipient that bounced (RFC 3464), and message.bounced is published ' +
          'for each report',
      },
      { observableWith: 'receiver', default: 'inbox' },
    ),
    'sending.reply.recipients': assumed(
      'Which recipients does a reply have?',
      'all addresses in Reply-To or, without Reply-To, the one of From; if the inbox itself sent the message, those in To; ' +
        'a reply to all adds To and Cc, without the addresses of the inbox; what is no complete address is left out, and ' +
        'if nothing else is there, the reply is 400',
      { operations: ['replyToMessage', 'replyAllToMessage', 'sendDraft'] },
    ),
    'sending.reply.subject': assumed(
      'What is the subject of a reply and of a forward?',
      'Re: or Fwd: before the original subject, unless it already starts with that',
      { operations: ['replyToMessage', 'replyAllToMessage', 'forwardMessage', 'sendDraft'], fields: ['subject'] },
    ),
    'sending.forward.body': assumed('What does a forward contain?', {
      original: 'the body of the request, then the original message with its header, and its attachments',
      'as-sent': 'the body of the request and the original attachments',
    }),
    'sending.plus-tags': assumed('Does mail to helpdesk+orders@acme.test reach helpdesk@acme.test?', {
      delivered:
        'yes, unless an inbox has the exact address; an address and its tagged forms belong to one inbox, so no ' +
        'other inbox can have them',
      exact: 'no',
    }),
    'sending.address-lists': byReference('May to, cc and bcc be one string with several addresses?', {
      commas:
        'yes: an RFC 5322 address list, with commas between the addresses; a name with a comma is quoted, and a ' +
        'group stands for its members',
      arrays: 'no: a string is one address, and an array has several',
    }),
    'sending.copies': assumed(
      'Do sending, replying and forwarding accept cc and bcc?',
      'yes, in the same form as to; a reply to all adds them to its own recipients',
      { operations: SENDS, fields: ['cc', 'bcc'] },
    ),
    'sending.addresses': assumed(
      'Which addresses are valid?',
      'a dot-atom of at most 64 bytes and a domain name of at least two labels, at most 254 bytes together; both may be ' +
        'international (RFC 6531), also over SMTP with or without SMTPUTF8; addresses are compared in lower case, and ' +
        'international domains by their ASCII form (IDNA): münchen.test is xn--mnchen-3ya.test; white space around an ' +
        'address is removed; a mail keeps its addresses as they are, but the addresses of inboxes and lists are stored in the form in which they are compared',
      {
        operations: [
          ...EVERY_SEND,
          'createDraft',
          'updateDraft',
          'createInbox',
          'addInboxAddress',
          'createListEntry',
          'verifyEmail',
        ],
        fields: ['to', 'cc', 'bcc', 'replyTo', 'email'],
      },
    ),
  },
);
