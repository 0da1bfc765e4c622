import { defineBehaviours } from '../behaviour.ts';
import { headerName } from '../header-name.ts';

/** How events reach webhooks. */
export const deliveryBehaviours = defineBehaviours({
  'deliveries.payload': {
    question: 'What does the payload of a delivery contain?',
    section: '6',
    choices: {
      'reference-and-content':
        'the fields of the reference (event, messageId, inboxId, threadId, from, to) plus id, workspaceId, subject, plainBody, htmlBody and receivedAt; for a bounce that a report in the inbox told of, also recipient and statusCode',
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
        'with the Standard Webhooks headers (webhook-id, webhook-timestamp, webhook-signature) and a header with the hex HMAC-SHA256 of the raw body',
      standard: 'with the Standard Webhooks headers only',
      hex: 'with the hex HMAC header only; webhook-id and webhook-timestamp are still sent',
    },
    default: 'standard-and-hex',
    origin: 'assumed',
  },
  'deliveries.signature.header': {
    question: 'Which header contains the hex HMAC?',
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
      delivery: 'the id of the delivery: the same for every attempt, but different for each webhook',
    },
    default: 'event',
    origin: 'assumed',
  },
  'deliveries.success': {
    question: 'Which responses of a receiver count as success?',
    section: '6',
    assumption: 'any 2xx status; redirects are not followed',
    origin: 'assumed',
  },
  'deliveries.timeout': {
    question: 'How long may a receiver take to respond?',
    section: '6',
    choices: { '15s': '15 seconds', '30s': '30 seconds', '5s': '5 seconds', '1s': '1 second', '100ms': '100 ms' },
    default: '15s',
    origin: 'assumed',
  },
  'deliveries.retry': {
    question: 'When is a failed delivery retried?',
    section: '6',
    choices: {
      'standard-webhooks':
        '5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h after the previous attempt, then no more',
      never: 'never',
    },
    default: 'standard-webhooks',
    origin: 'assumed',
  },
  'deliveries.retry-after': {
    question: 'Is a Retry-After header in the response to a failed delivery respected?',
    section: '6',
    choices: { respected: 'yes, up to 24 hours, but never earlier than the schedule', ignored: 'no' },
    default: 'respected',
    origin: 'assumed',
  },
  'deliveries.gone': {
    question: 'What does a 410 response do?',
    section: '6',
    choices: {
      deactivates: 'it sets isActive of the webhook to false, and the delivery is not retried',
      retried: 'it counts as a failure like any other',
    },
    default: 'deactivates',
    origin: 'assumed',
  },
  'deliveries.inactive': {
    question: 'What happens to the pending deliveries of a webhook that is deactivated or deleted?',
    section: '6',
    assumption: 'they are dropped when their next attempt is due',
    origin: 'assumed',
  },
  'deliveries.order': {
    question: 'In which order does a webhook receive its deliveries?',
    section: '6',
    choices: {
      'one-by-one': 'one at a time, in the order of the events; a failed delivery is retried later',
      parallel: 'up to ten at a time, in any order',
    },
    default: 'one-by-one',
    origin: 'assumed',
  },
});
