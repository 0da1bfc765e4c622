import { createMailbox } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { FAULT_NAMES } from '../../../../src/control/faults/named-faults.ts';
import { type DescribedFault, describeFault } from '../../../../src/inspector/views/settings/describe-fault.ts';
import { DELIVERY_FAULT_KINDS, IMAP_FAULTS } from '../../../../src/world/fault.ts';

describe('the sentence of a fault', () => {
  test.for<readonly [fault: DescribedFault, sentence: string]>([
    [
      { on: 'request', kind: 'reply', operation: 'replyToMessage', status: 503, latency: { ms: 2000 }, times: 3 },
      'The next 3 requests of replyToMessage get 503 after 2 s.',
    ],
    [{ on: 'request', kind: 'reply', status: 500 }, 'The next request gets 500.'],
    [
      { on: 'request', kind: 'reply', status: 201, effect: 'applied', body: {}, headers: { 'retry-after': '2' } },
      'The next request gets 201 with the body {} and the header retry-after, although the operation runs.',
    ],
    [{ on: 'request', kind: 'reply', body: 'a' }, 'The next request gets the usual reply with the body "a".'],
    [
      { on: 'request', kind: 'latency', latency: { ms: 250, jitterMs: 1250 }, times: 1_000_000, tier: 'inbox' },
      'Each request with a key of the tier inbox gets the reply 250 ms to 1.5 s later, until the fault is removed.',
    ],
    [
      { on: 'request', kind: 'cut', effect: 'applied', after: 1 },
      'After 1 request that goes well: the next request gets no reply: the connection is cut, and the operation runs.',
    ],
    [
      { on: 'request', kind: 'rate-limit', rateLimit: { limit: 5, perMs: 60_000 }, times: null },
      'If a tenant sends more than 5 requests in 1 min, the others get 429, until the fault is removed.',
    ],
    [{ on: 'delivery', kind: 'delay', delayMs: 60_000, times: 2 }, 'The next 2 deliveries will be sent 1 min late.'],
    [{ on: 'delivery', kind: 'delay', delay: '90s' }, 'The next delivery will be sent 90s late.'],
    [
      { on: 'stream', kind: 'close' },
      'The next event on an event stream will not be sent; its stream is closed with the code 4503.',
    ],
    [
      { on: 'smtp', recipient: 'helpdesk@acme.test', status: 550 },
      'The next recipient helpdesk@acme.test will be refused over SMTP with 550, for good.',
    ],
    [
      { on: 'imap', kind: 'disconnect', commands: 2, after: 3 },
      'After 3 IMAP sessions that go well: the next IMAP session will be cut after 2 commands.',
    ],
  ])('says what will happen: %j', ([fault, sentence]) => {
    expect(describeFault(fault)).toBe(sentence);
  });

  test('is known for every kind and every name', () => {
    const mailbox = createMailbox();
    for (const name of FAULT_NAMES) mailbox.addFault(name);
    for (const kind of DELIVERY_FAULT_KINDS) mailbox.addFault({ on: 'delivery', kind });
    for (const kind of Object.keys(IMAP_FAULTS) as (keyof typeof IMAP_FAULTS)[]) mailbox.addFault({ on: 'imap', kind });
    const sentences = mailbox.faults().map((fault) => describeFault(fault as DescribedFault));
    for (const sentence of sentences) expect(sentence).toMatch(/^(?:The next|Each|If) .+\.$/);
    expect(sentences.join()).not.toMatch(/will be changed|undefined|null/);
  });
});
