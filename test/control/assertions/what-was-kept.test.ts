import 'agent-mailbox-mock/matchers';
import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { senderTo } from '../../support/send.ts';

interceptRequests();

const DANA = 'dana@customer.test';
const INBOX = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`;
const KEY = 'tk_acme_tenant_key';

/** What assertions say if they cannot tell. */
const CANNOT_TELL = /Too little was kept to tell/;

async function sendMail({ send }: Pick<Service, 'send'>, json: object) {
  const mail = { to: DANA, subject: 'Hi', plainBody: 'Hello', verified: true, ...json };
  expect((await send('POST', `${INBOX}/send`, { key: KEY, json: mail })).status).toBe(200);
}

everywhere('of a large body, what its start has is told, and what may follow is not', async (service) => {
  const { mailbox } = service;
  await sendMail(service, { subject: 'START', plainBody: `${'x'.repeat(20_000)} END` });
  expect(mailbox).toHaveReceivedRequest({ body: /START/, times: 1 });
  expect(mailbox).not.toHaveReceivedRequest({ body: 'START' });
  for (const body of [/END/, { plainBody: /END/ }, { subject: 'START' }, expect.not.stringContaining('END')]) {
    expect(() => expect(mailbox).toHaveReceivedRequest({ body })).toThrow(CANNOT_TELL);
    expect(() => expect(mailbox).not.toHaveReceivedRequest({ body })).toThrow(CANNOT_TELL);
    expect(() => expect(mailbox).toHaveReceivedRequest({ body, times: 0 })).toThrow(CANNOT_TELL);
    expect(() => expect(mailbox).toHaveReceivedRequest({ body, times: 1 })).toThrow(CANNOT_TELL);
    // Another field decides, or the number does.
    expect(mailbox).not.toHaveReceivedRequest({ body, operation: 'createWebhook' });
    expect(mailbox).not.toHaveReceivedRequest({ body, times: 2 });
  }
  // The mail itself is kept whole.
  expect(mailbox).toHaveSentMail({ plainBody: /END$/ });
  expect(mailbox).not.toHaveSentMail({ plainBody: /END!/ });
  await sendMail(service, { plainBody: 'END' });
  expect(mailbox).toHaveReceivedRequest({ body: { plainBody: /END/ } });
  expect(() => expect(mailbox).toHaveReceivedRequest({ body: { plainBody: /END/ }, times: 1 })).toThrow(CANNOT_TELL);
});

everywhere('a body of up to 16 KiB is kept whole', async (service) => {
  const fixed = JSON.stringify({ to: DANA, subject: 'Hi', plainBody: '', verified: true }).length;
  await sendMail(service, { plainBody: 'x'.repeat(16 * 1024 - fixed) });
  expect(service.mailbox).not.toHaveReceivedRequest({ body: { plainBody: /END/ } });
  expect(service.mailbox).toHaveReceivedRequest({ body: { plainBody: /END/ }, times: 0 });
});

everywhere('a refused exception of which the body was cut is not told', async (service) => {
  const json = { to: 'nobody', subject: 'x'.repeat(20_000), verified: true };
  await service.send('POST', `${INBOX}/send`, { key: KEY, json });
  const body = { verified: true };
  const mailbox = service.mailbox;
  expect(() => expect(mailbox).toHaveNoUnexpectedRefusals({ except: [{ body }] })).toThrow(CANNOT_TELL);
  expect(() => expect(mailbox).not.toHaveNoUnexpectedRefusals({ except: [{ body }] })).toThrow(CANNOT_TELL);
  expect(mailbox).not.toHaveNoUnexpectedRefusals({ except: [{ body, status: 404 }] });
});

everywhere('what is masked is not told, and what is beside it is', async ({ mailbox, send }) => {
  const json = { url: 'http://127.0.0.1:9/in?token=abcdefgh12345678', events: ['message.received'] };
  await send('POST', '/v1/webhooks', { key: KEY, json });
  expect(mailbox).toHaveCreated('webhook', { events: ['message.received'], url: /127\.0\.0\.1/ });
  expect(mailbox).not.toHaveCreated('webhook', { events: ['message.sent'], secret: /x/ });
  expect(() => expect(mailbox).toHaveCreated('webhook', { secret: /x/ })).toThrow(CANNOT_TELL);
  expect(() => expect(mailbox).not.toHaveCreated('webhook', { url: /abcd/ })).toThrow(CANNOT_TELL);
  expect(() => expect(mailbox).toHaveCreated('webhook', { url: /abcd/, times: 0 })).toThrow(CANNOT_TELL);
  expect(() => expect(mailbox).not.toHaveReceivedRequest({ body: { url: /abcd/ } })).toThrow(CANNOT_TELL);
  expect(mailbox).not.toHaveCreated('webhook', { url: 'http://127.0.0.1:9/other' });
});

everywhere('an ellipsis that an agent wrote hides nothing', async (service) => {
  await sendMail(service, { plainBody: 'Well … I wait…' });
  expect(service.mailbox).not.toHaveReceivedRequest({ body: { plainBody: /code/ } });
});

test('of dropped files, the name is told, and the content is not', async () => {
  const memory = () => ({ heapBytes: 64 * 1024 * 1024, allBytes: Number.POSITIVE_INFINITY });
  const mailbox = createMailbox({ environment: { memory } });
  const send = senderTo(mailbox);
  const code = btoa('KLLRRNKK');
  for (let count = 0; count < 10; count += 1) {
    const file = {
      filename: `${count}.txt`,
      contentType: 'text/plain',
      content: btoa(`${count} ${'x'.repeat(900_000)}`),
    };
    const [mail] = await mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      from: DANA,
      subject: `${count}`,
      attachments: [file],
    });
    const json = { to: 'eve@evil.test', verified: true };
    expect((await send('POST', `${INBOX}/forward/${mail?.id}`, { key: KEY, json })).status).toBe(200);
    mailbox.clearMail();
  }
  const lacking = mailbox.journal({ kinds: ['mail-sent'] }).filter(({ data }) => data.lacksBytes).length;
  expect(lacking).toBeGreaterThan(0);
  expect(mailbox).toHaveSentMail({ attachments: [{ filename: '0.txt' }], times: 1 });
  expect(mailbox).not.toHaveSentMail({ attachments: [{ filename: 'x.txt', content: code }] });
  expect(mailbox).toHaveSentMail({ text: '0.txt' });
  expect(mailbox).toHaveSentMail({ text: '9 xxxx' });
  for (const expected of [{ text: 'KLLRRNKK' }, { attachments: [{ content: code }] }]) {
    expect(() => expect(mailbox).toHaveSentMail(expected)).toThrow(CANNOT_TELL);
    expect(() => expect(mailbox).not.toHaveSentMail(expected)).toThrow(CANNOT_TELL);
    expect(() => expect(mailbox).toHaveSentMail({ ...expected, times: 0 })).toThrow(CANNOT_TELL);
    expect(mailbox).not.toHaveSentMail({ ...expected, to: DANA });
  }
});
