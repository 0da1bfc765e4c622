import { expect, test } from 'vitest';
import { createMailbox } from '../../../src/mailbox/index.ts';
import '../../../src/testing/matchers/index.ts';

/** Returns a mailbox that got this number of requests. */
async function createUsed(count: number) {
  const mailbox = createMailbox();
  for (let sent = 0; sent < count; sent += 1) {
    await mailbox.fetch(`${mailbox.baseUrl}/v1/webhooks`, { headers: { 'X-API-Key': 'tk_acme_tenant_key' } });
  }
  return mailbox;
}

test.for([
  [0, { max: 1 }, true],
  [0, { min: 1 }, false],
  [2, { min: 2 }, true],
  [2, { min: 1, max: 2 }, true],
  [2, { min: 3 }, false],
  [2, { max: 1 }, false],
  [3, { min: 1, max: 2 }, false],
] as const)('%i requests, with times %j', async ([count, times, isSo]) => {
  const mailbox = await createUsed(count);
  if (isSo) expect(mailbox).toHaveReceivedRequest({ operation: 'listWebhooks', times });
  else expect(mailbox).not.toHaveReceivedRequest({ operation: 'listWebhooks', times });
});

test('a failure says the range', async () => {
  const mailbox = await createUsed(3);
  const messageOf = (times: object, isNot = false) => {
    try {
      const assertion = isNot ? expect(mailbox).not : expect(mailbox);
      assertion.toHaveReceivedRequest({ operation: 'listWebhooks', times });
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(messageOf({ min: 4 })).toContain('Expected at least 4 requests');
  expect(messageOf({ max: 2 })).toContain('Expected at most 2 requests');
  expect(messageOf({ min: 4, max: 5 })).toContain('Expected 4 to 5 requests');
  expect(messageOf({ min: 2, max: 3 }, true)).toContain('Expected fewer than 2 or more than 3 requests');
});

test.for([{}, { min: 0 }, { min: 3, max: 2 }, { min: -1 }, { min: 1.5 }, { mn: 1 }, '1'])(
  '%j is no number of times',
  async (times) => {
    const mailbox = await createUsed(1);
    expect(() => expect(mailbox).toHaveReceivedRequest({ times: times as never })).toThrow(
      'The field times of toHaveReceivedRequest must be a whole number from 0, or an object with min, max or both',
    );
  },
);
