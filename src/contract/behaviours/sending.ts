import { defineBehaviours } from '../behaviour.ts';

/** Sending, replying and forwarding. */
export const sendBehaviours = defineBehaviours({
  'sending.required': {
    question: 'What does sending need?',
    section: '4.4',
    assumption: 'to and subject; a body may be empty',
    origin: 'reference',
    shapes: ['body'],
  },
  'sending.reply': {
    question: 'What does sending answer?',
    section: '4.4',
    choices: {
      'message-id-header': '{ id, threadId, status: "sent", messageId }; messageId is the Message-ID header',
      'message-id': 'the same; messageId is the id',
    },
    default: 'message-id-header',
    origin: 'assumed',
  },
  'sending.verified': {
    question: 'What answers a send to an address that never wrote to the inbox, without verified: true?',
    section: '4.4',
    choices: {
      forbidden: '403 UNVERIFIED_RECIPIENT',
      invalid: '400',
      sent: 'it is sent',
    },
    default: 'forbidden',
    origin: 'assumed',
  },
  'sending.verified.scope': {
    question: 'Which sends does that guard?',
    section: '4.4',
    choices: {
      send: 'a plain send, the one that takes verified',
      'send-and-forward': 'forwards too',
      'every-send': 'forwards, replies to all and drafts too',
    },
    default: 'send',
    origin: 'assumed',
  },
  'sending.simulators': {
    question: 'Do the addresses at simulator.test bring results about?',
    section: '4.4',
    choices: {
      on: 'yes: bounce@, relay-error@, pause@, resume@ and success@, also with a plus-tag; they need no verified',
      off: 'no, they are addresses like any other',
    },
    default: 'on',
    origin: 'assumed',
  },
  'sending.paused': {
    question: 'What does a paused inbox refuse?',
    section: '4.4',
    assumption: 'every send, reply, forward and draft: 403 INBOX_PAUSED; mail to it still arrives',
    origin: 'reference',
  },
  'sending.local': {
    question: 'Where does mail go?',
    section: '4.4',
    assumption:
      'to an inbox of this emulator, of any tenant, it arrives at once; anything else counts as delivered and goes nowhere',
    origin: 'assumed',
  },
  'sending.unknown-user': {
    question: 'What happens to mail for nobody at a domain of this emulator?',
    section: '4.4',
    choices: {
      bounced: 'it bounces',
      accepted: 'it counts as delivered',
    },
    default: 'bounced',
    origin: 'assumed',
  },
  'sending.reply.recipients': {
    question: 'Whom does a reply go to?',
    section: '4.4',
    assumption:
      "Reply-To, or else From; to one's own message, its To. A reply to all adds To and Cc without the addresses of the inbox",
    origin: 'assumed',
  },
  'sending.reply.subject': {
    question: 'What is the subject of a reply and of a forward?',
    section: '4.4',
    assumption: 'Re: or Fwd: and the subject, unless it starts so already',
    origin: 'assumed',
  },
  'sending.forward.body': {
    question: 'What does a forward carry?',
    section: '4.4',
    choices: {
      original: 'what was sent with it, then the original with its head, and its attachments',
      'as-sent': 'what was sent with it, and the attachments',
    },
    default: 'original',
    origin: 'assumed',
  },
  'sending.plus-tags': {
    question: 'Does mail to helpdesk+orders@acme.test reach helpdesk@acme.test?',
    section: '4.4',
    choices: {
      delivered:
        'yes, where nobody has the very address; an address and its tagged forms belong to one inbox, and are taken for others',
      exact: 'no',
    },
    default: 'delivered',
    origin: 'assumed',
  },
  'sending.address-lists': {
    question: 'May to, cc and bcc be one string with several addresses?',
    section: '4.4',
    choices: {
      commas:
        'yes: a list as RFC 5322 writes it, with commas between the addresses; a name with a comma is quoted, and a group stands for its members',
      arrays: 'no: a string is one address, and several are an array',
    },
    default: 'commas',
    origin: 'reference',
  },
  'sending.copies': {
    question: 'Do sending, replying and forwarding take cc and bcc?',
    section: '4.4',
    assumption: 'yes, as to; a reply to all adds them to those that it goes to anyway',
    origin: 'assumed',
    shapes: ['body'],
  },
  'sending.addresses': {
    question: 'Which addresses are taken?',
    section: '4.4',
    assumption:
      'in ASCII: a dot-atom of at most 64 characters, and a domain name of two labels or more, 254 characters together; they compare in lower case',
    origin: 'assumed',
    shapes: ['body'],
  },
});
