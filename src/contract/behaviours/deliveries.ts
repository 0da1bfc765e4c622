import { defineBehaviours } from '../behaviour.ts';
import { headerName } from '../header-fields.ts';

/** How events reach webhooks. */
export const deliveryBehaviours = defineBehaviours('6', 'receiver', {
  'deliveries.payload': {
    question: 'What does the payload of a delivery contain?',
    choices: {
      'reference-and-content':
        'the fields of the reference (event, messageId, inboxId, threadId, from, to) plus id, workspaceId, subject, ' +
        'plainBody, htmlBody and receivedAt; for a bounce that a report in the inbox told of, also recipient and ' +
        'statusCode',
      reference: 'only event, messageId, inboxId, threadId, from and to',
    },
  },
  'deliveries.signature': {
    question: 'How is a delivery signed?',
    choices: {
      'standard-and-hex':
        'with the Standard Webhooks headers (webhook-id, webhook-timestamp, webhook-signature) and a header with ' +
        'the hex HMAC-SHA256 of the raw body',
      standard: 'with the Standard Webhooks headers only',
      hex: 'with the hex HMAC header only; webhook-id and webhook-timestamp are still sent',
    },
  },
  'deliveries.signature.header': {
    question: 'Which header contains the hex HMAC?',
    choices: {
      'x-webhook-signature': 'X-Webhook-Signature',
      'x-signature': 'X-Signature',
      'x-mailbox-signature': 'X-Mailbox-Signature',
      'x-hub-signature-256': 'X-Hub-Signature-256',
    },
    otherValues: headerName,
  },
  'deliveries.signature.form': {
    question: 'How is the hex HMAC written?',
    choices: { v1: 'v1=<hex>', sha256: 'sha256=<hex>', bare: '<hex>' },
    origin: 'reference',
  },
  'deliveries.id': {
    question: 'What is the webhook-id of a delivery?',
    choices: {
      event: 'the id of the event: the same for every webhook and every attempt',
      delivery: 'the id of the delivery: the same for every attempt, but different for each webhook',
    },
  },
  'deliveries.success': {
    told: 'time',
    question: 'Which responses of a receiver count as success?',
    assumption: 'any 2xx status; redirects are not followed',
  },
  'deliveries.timeout': {
    told: 'time',
    question: 'How long may a receiver take to respond?',
    choices: { '15s': '15 seconds', '30s': '30 seconds', '5s': '5 seconds', '1s': '1 second', '100ms': '100 ms' },
  },
  'deliveries.retry': {
    told: 'time',
    question: 'When is a failed delivery retried?',
    choices: {
      'standard-webhooks':
        '5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h after the previous attempt, then no more',
      never: 'never',
    },
  },
  'deliveries.retry-after': {
    told: 'time',
    question: 'Is a Retry-After header in the response to a failed delivery respected?',
    choices: { respected: 'yes, up to 24 hours, but never earlier than the schedule', ignored: 'no' },
  },
  'deliveries.gone': {
    question: 'What does a 410 response do?',
    choices: {
      deactivates: 'it sets isActive of the webhook to false, and the delivery is not retried',
      retried: 'it counts as a failure like any other',
    },
  },
  'deliveries.inactive': {
    told: 'time',
    question: 'What happens to the pending deliveries of a webhook that is deactivated or deleted?',
    assumption: 'they are dropped when their next attempt is due',
  },
  'deliveries.order': {
    question: 'In which order does a webhook receive its deliveries?',
    choices: {
      'one-by-one': 'one at a time, in the order of the events; a failed delivery is retried later',
      parallel: 'up to ten at a time, in any order',
    },
  },
});
