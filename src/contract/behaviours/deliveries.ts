import { assumed, byReference, defineBehaviours } from '../behaviour.ts';
import { headerName } from '../header-fields.ts';

/** Behaviours of the deliveries to webhooks. */
export const deliveryBehaviours = defineBehaviours(
  { section: '6', observableWith: 'receiver' },
  {
    'deliveries.payload': assumed('What does the payload of a delivery contain?', {
      'reference-and-content':
        'the fields of the reference (event, messageId, inboxId, threadId, from, to) plus id, workspaceId, subject, ' +
        'plainBody, htmlBody and receivedAt; for a bounce with a report in the inbox, also recipient and ' +
        'statusCode',
      reference: 'only event, messageId, inboxId, threadId, from and to',
    }),
    'deliveries.addresses': byReference('How are the addresses in the payload of a delivery written?', {
      display: 'with the display name, if there is one: Dana Reyes <dana@customer.test>',
      bare: 'without display names, in lower case: dana@customer.test',
    }),
    'deliveries.user-agent': assumed('Which User-Agent does a delivery have?', 'agent-mailbox-mock', {
      observableWith: 'not from outside: each service has a name of its own',
    }),
    'deliveries.signature': assumed('How is a delivery signed?', {
      'standard-and-hex':
        'with the Standard Webhooks headers (webhook-id, webhook-timestamp, webhook-signature) and a header with ' +
        'the hex HMAC-SHA256 of the raw body',
      standard: 'with the Standard Webhooks headers only',
      hex: 'with the hex HMAC header only; webhook-id and webhook-timestamp are still sent',
    }),
    'deliveries.signature.header': assumed(
      'Which header contains the hex HMAC?',
      {
        'x-webhook-signature': 'X-Webhook-Signature',
        'x-signature': 'X-Signature',
        'x-mailbox-signature': 'X-Mailbox-Signature',
        'x-hub-signature-256': 'X-Hub-Signature-256',
      },
      { otherValues: headerName },
    ),
    'deliveries.signature.form': byReference('How is the hex HMAC written?', {
      v1: 'v1=<hex>',
      sha256: 'sha256=<hex>',
      bare: '<hex>',
    }),
    'deliveries.id': assumed('What is the webhook-id of a delivery?', {
      event: 'the id of the event: the same for every webhook and every attempt',
      delivery: 'the id of the delivery: the same for every attempt, but different for each webhook',
    }),
    'deliveries.timestamp': assumed(
      'Which time is in the webhook-timestamp of a delivery?',
      {
        real: 'the real time at which the attempt is sent, whatever time the clock of the tenant shows',
        clock: 'the time of the clock of the tenant, which a test can move',
      },
      {
        observableWith:
          'not from outside: no client can move the clock of a service, so both values give the same timestamps',
      },
    ),
    'deliveries.trace': assumed('Does a delivery have a trace header?', {
      none: 'no',
      header:
        'yes: traceparent (W3C Trace Context), made from the id of the event; if the receiver sends it with a request, ' +
        'stories show the delivery as the cause, and assertions ignore it',
    }),
    'deliveries.success': assumed(
      'Which responses of a receiver count as success?',
      'any 2xx status; redirects are not followed',
      { observableWith: 'time' },
    ),
    'deliveries.timeout': assumed(
      'How long may a receiver take to respond?',
      { '15s': '15 seconds', '30s': '30 seconds', '5s': '5 seconds', '1s': '1 second', '100ms': '100 ms' },
      { observableWith: 'time' },
    ),
    'deliveries.retry': assumed(
      'When is a failed delivery retried?',
      {
        'standard-webhooks':
          '5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h after the previous attempt, then no more',
        never: 'never',
      },
      { observableWith: 'time' },
    ),
    'deliveries.retry-after': assumed(
      'Is a Retry-After header in the response to a failed delivery respected?',
      {
        respected:
          'yes, up to 24 hours, but never earlier than the schedule; if it is a date, the delay is counted from the time ' +
          'in webhook-timestamp',
        ignored: 'no',
      },
      { observableWith: 'time' },
    ),
    'deliveries.gone': assumed('What does a 410 response do?', {
      deactivates: 'it sets isActive of the webhook to false, and the delivery is not retried',
      retried: 'it counts as a failure like any other',
    }),
    'deliveries.inactive': assumed(
      'What happens to the pending deliveries of a webhook that is deactivated or deleted?',
      'each delivery is dropped when its next attempt is due',
      { observableWith: 'time' },
    ),
    'deliveries.updated': assumed(
      'How does updating a webhook affect its deliveries that wait for a retry?',
      'the next attempt goes to the new URL; a delivery of an event that the webhook no longer lists is still sent, and ' +
        'its payload stays as it is',
      { observableWith: 'time' },
    ),
    'deliveries.order': assumed('In which order does a webhook receive its deliveries?', {
      'one-by-one': 'one at a time, in the order of the events; a failed delivery is retried later',
      parallel: 'up to ten at a time, in any order',
    }),
  },
);
