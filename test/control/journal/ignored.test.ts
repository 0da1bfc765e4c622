import 'agent-mailbox-mock/matchers';
import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { senderTo, send as sendTo } from '../../support/send.ts';
import { createWebhook } from '../../support/webhooks.ts';

interceptRequests();

const KEY = 'ak_acme_helpdesk_key';
const SEND = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/send`;
const MAIL = { to: 'dana@customer.test', subject: 'Order 7', verified: true };

everywhere('the journal has the fields and parameters that an operation did not read', async ({ mailbox, send }) => {
  const cases: [method: string, path: string, json: object | undefined, ignored: string[]][] = [
    ['POST', SEND, { ...MAIL, body: 'Sent.' }, ['body; did you mean plainBody?']],
    [
      'POST',
      SEND,
      { ...MAIL, text: 'Sent.', html: '<p>', zzz: 1 },
      ['text; did you mean plainBody?', 'html; did you mean htmlBody?', 'zzz'],
    ],
    ['POST', SEND, { ...MAIL, plain_body: 'Sent.' }, ['plain_body; did you mean plainBody?']],
    ['POST', SEND, { ...MAIL, plainBody: 'Sent.' }, []],
    ['POST', SEND, { body: 'Sent.' }, ['body; did you mean plainBody?']],
    ['GET', '/v1/messages?limt=1&limt=2&offset=0', undefined, ['limt; did you mean limit?']],
    [
      'POST',
      SEND,
      { ...MAIL, ...Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`x${index}`, 1])) },
      [...['x0', 'x1', 'x2', 'x3', 'x4']],
    ],
  ];
  for (const [method, path, json] of cases) await send(method, path, { key: KEY, ...(json && { json }) });
  expect(mailbox.requests().map(({ ignored }) => ignored)).toEqual(cases.map(([, , , ignored]) => ignored));
});

test('the log says what an operation did not read', async ({ expect }) => {
  const lines: string[] = [];
  await using server = await startServer({ port: 0, log: (line) => lines.push(line) });
  await sendTo(server.url + SEND, 'POST', { key: KEY, json: { ...MAIL, body: 'Sent.', 'x\u001b[2J': 1 } });
  await expect
    .poll(() => lines.join('\n'))
    .toMatch(
      /sendMessage +200 POST \/v1\/\S+\/send .+ \(ignored: body; did you mean plainBody\?\) \(ignored: x\?\[2J\)/,
    );
});

test('the assertions about requests and mail say what an operation did not read', async () => {
  const mailbox = createMailbox();
  const headers = { 'X-API-Key': KEY, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ ...MAIL, body: 'Sent.' });
  await mailbox.fetch(mailbox.baseUrl + SEND, { method: 'POST', headers, body });
  const ignored = /req_1, POST .+ → 200 \(ignored: body; did you mean plainBody\?\)/;
  expect(() => expect(mailbox).toHaveSentMail({ plainBody: 'Sent.' })).toThrow(ignored);
  expect(() => expect(mailbox).toHaveReceivedRequest({ body: { plainBody: 'Sent.' } })).toThrow(ignored);
});

test('a forgotten settled() has a hint where a delivery may still cause what is missing', async () => {
  let answer = (_: Response) => {};
  const answered = new Promise<Response>((resolve) => {
    answer = resolve;
  });
  const mailbox = createMailbox({ environment: { fetch: async () => (await answered).clone() } });
  await createWebhook({ mailbox, send: senderTo(mailbox) }, 'http://127.0.0.1:9/in');
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'kim@visitor.test' });
  const hint = /^There (is|are) \d deliver(y|ies) still pending; await settled\(\) before this assertion\.$/m;
  expect(() => expect(mailbox).toHaveSentMail()).toThrow(hint);
  expect(() => expect(mailbox).toHaveReceivedRequest({ times: 2 })).toThrow(hint);
  answer(new Response());
  await mailbox.settled();
  expect(() => expect(mailbox).toHaveSentMail()).not.toThrow(hint);
});
