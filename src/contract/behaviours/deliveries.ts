import { defineBehaviours } from '../behaviour.ts';
import { headerName } from '../header-name.ts';

/** How events reach webhooks. */
export const deliveryBehaviours = defineBehaviours({
  'deliveries.payload': {
    question: 'What does a delivery carry?',
    section: '6',
    choices: {
      'reference-and-content':
        'the fields of the reference (event, messageId, inboxId, threadId, from, to) and id, workspaceId, subject, plainBody, htmlBody, receivedAt',
      reference: 'only event, messageId, inboxId, threadId, from and to',
    },
    default: 'reference-and-content',
    origin: 'assumed',
  },
  'deliveries.signature': {
    question: 'How is a delivery signed?',
    section: '6',
    choices: {
      'standard-and-hex':
        'webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks, and a header with the hex HMAC-SHA256 of the raw body beside them',
      standard: 'by the headers of Standard Webhooks only',
      hex: 'by the header with the hex HMAC only; webhook-id and webhook-timestamp stay',
    },
    default: 'standard-and-hex',
    origin: 'assumed',
  },
  'deliveries.signature.header': {
    question: 'Which header carries the hex HMAC?',
    section: '6',
    choices: {
      'x-webhook-signature': 'X-Webhook-Signature',
      'x-signature': 'X-Signature',
      'x-mailbox-signature': 'X-Mailbox-Signature',
      'x-hub-signature-256': 'X-Hub-Signature-256',
    },
    otherValues: headerName,
    default: 'x-webhook-signature',
    origin: 'assumed',
  },
  'deliveries.signature.form': {
    question: 'How is the hex HMAC written?',
    section: '6',
    choices: { v1: 'v1=<hex>', sha256: 'sha256=<hex>', bare: '<hex>' },
    default: 'v1',
    origin: 'reference',
  },
  'deliveries.id': {
    question: 'What is the webhook-id of a delivery?',
    section: '6',
    choices: {
      event: 'the id of the event: the same for every webhook and every attempt',
      delivery: 'the id of the delivery: the same for every attempt, another for every webhook',
    },
    default: 'event',
    origin: 'assumed',
  },
  'deliveries.success': {
    question: 'Which answers of a receiver count as success?',
    section: '6',
    assumption: 'any 2xx; redirects are not followed',
    origin: 'assumed',
  },
  'deliveries.timeout': {
    question: 'How long may a receiver take to answer?',
    section: '6',
    choices: { '15s': '15 seconds', '30s': '30 seconds', '5s': '5 seconds', '1s': '1 second', '100ms': '100 ms' },
    default: '15s',
    origin: 'assumed',
  },
  'deliveries.retry': {
    question: 'When is a failed delivery tried again?',
    section: '6',
    choices: {
      'standard-webhooks':
        '5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h after the attempt before, and then no more',
      never: 'never',
    },
    default: 'standard-webhooks',
    origin: 'assumed',
  },
  'deliveries.retry-after': {
    question: 'Does a receiver that fails with Retry-After get the time it asks for?',
    section: '6',
    choices: { respected: 'yes, up to 24 hours; never less than the schedule says', ignored: 'no' },
    default: 'respected',
    origin: 'assumed',
  },
  'deliveries.gone': {
    question: 'What does an answer of 410 do?',
    section: '6',
    choices: {
      deactivates: 'it sets isActive of the webhook to false, and the delivery is not tried again',
      retried: 'it is a failure as any other',
    },
    default: 'deactivates',
    origin: 'assumed',
  },
  'deliveries.inactive': {
    question: 'What happens to what still waits for a webhook that is made inactive or deleted?',
    section: '6',
    assumption: 'it is dropped when its next attempt is due',
    origin: 'assumed',
  },
  'deliveries.order': {
    question: 'In which order does a webhook get its deliveries?',
    section: '6',
    choices: {
      'one-by-one': 'one at a time, in the order of the events; what failed comes again later',
      parallel: 'up to ten at a time, in any order',
    },
    default: 'one-by-one',
    origin: 'assumed',
  },
});
