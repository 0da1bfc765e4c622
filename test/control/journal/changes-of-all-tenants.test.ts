import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';

test('a change of all tenants is one entry for the mailbox, and one for each sandbox', async () => {
  const mailbox = createMailbox();
  const [open, closed] = [mailbox.createSandbox(), mailbox.createSandbox()];
  await mailbox.clock.advance('1h');
  mailbox.clearRequests();
  closed.close();
  const kinds = ['clock', 'journal'] as const;
  const expected = [
    { kind: 'clock', tenantId: null, data: { action: 'advance' } },
    { kind: 'journal', tenantId: null, data: { action: 'cleared' } },
  ];
  const inMailbox = mailbox.journal({ kinds });
  expect(inMailbox).toMatchObject(expected);
  expect(open.journal({ kinds })).toMatchObject(expected);
  const references = mailbox.journal().map(({ tenantId, number }) => `${tenantId} ${number}`);
  expect(new Set(references).size).toBe(references.length);
});
