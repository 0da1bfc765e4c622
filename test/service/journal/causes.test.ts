import { createMailbox, type JournalEntry } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { IDS } from '../../support/ids.ts';
import { senderTo } from '../../support/send.ts';

const HELPDESK = 'ak_acme_helpdesk_key';
const INBOX = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`;
const DANA = 'dana@customer.test';

/** The kinds of an entry and of its cause. */
const chainOf = (entries: readonly JournalEntry[]) =>
  entries.map(({ kind, cause }) => [kind, entries.find(({ number }) => number === cause?.number)?.kind]);

test('a mail, its delivery, the attempt and the answer are a chain of causes', async () => {
  const mailbox = createMailbox({ environment: { fetch: async () => new Response('thanks', { status: 202 }) } });
  await mailbox.addWebhook({ url: 'http://127.0.0.1:9/in', workspaceOf: 'helpdesk@acme.test' });
  const [mail] = await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: DANA, subject: 'Hi' });
  await mailbox.settled();
  const reply = await senderTo(mailbox)('POST', `${INBOX}/reply/${mail?.id}`, { key: HELPDESK, json: {} });
  expect(reply.status).toBe(200);
  const entries = mailbox.journal();
  expect(chainOf(entries)).toEqual([
    ['mail-received', undefined],
    ['delivery-created', 'mail-received'],
    ['attempt', 'delivery-created'],
    ['mail-sent', 'mail-received'],
    ['request', undefined],
    ['read', 'request'],
  ]);
  expect(entries[2]?.data).toMatchObject({ status: 202, responseBody: 'thanks', messageId: mail?.id });
  expect(entries[3]?.data).toMatchObject({
    source: 'request',
    routes: [{ recipient: DANA, route: 'external' }],
    mail: { to: [expect.stringContaining(DANA)], subject: 'Re: Hi', tenantId: IDS.acme.tenant },
  });
});
