import 'agent-mailbox-mock/matchers';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { type ImapTestServer, startImap } from '../../support/imap-server.ts';

const COLLECTOR = 'audit@collector.test';

/** Ways to try to send a mail to a stranger that the service refuses, and the statuses. */
const TRIES: readonly (readonly [name: string, run: (running: ImapTestServer) => Promise<unknown>, status: number])[] =
  [
    ['a text', (running) => running.api('POST', '/send', mailTo(COLLECTOR)), 403],
    ['a list', (running) => running.api('POST', '/send', mailTo([COLLECTOR])), 403],
    ['one of several in a text', (running) => running.api('POST', '/send', mailTo(`a@b.test, ${COLLECTOR}`)), 403],
    ['one of several in a list', (running) => running.api('POST', '/send', mailTo(['a@b.test', COLLECTOR])), 403],
    [
      'a reply of a fault',
      async (running) => {
        running.server.mailbox.addFault({ on: 'request', operation: 'sendMessage', status: 503, times: 1 });
        await running.api('POST', '/send', { ...mailTo(COLLECTOR), verified: true });
      },
      503,
    ],
    ['a wrong field', (running) => running.api('POST', '/send', { ...mailTo(COLLECTOR), plainBody: 5 }), 400],
    ['a program over SMTP', (running) => submit(running, { to: `${COLLECTOR}, relay-error@simulator.test` }), 451],
  ];

const mailTo = (to: string | readonly string[]) => ({ to, subject: 'Secret', plainBody: 'The code.' });

/** Submits a mail, and returns whether it was accepted. */
async function submit({ smtpPort, login }: ImapTestServer, { to, from = login.user }: { to: string; from?: string }) {
  const auth = { user: login.user, pass: login.password };
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true, auth });
  const sending = transport.sendMail({ from, to, subject: 'Secret', text: 'The code.' });
  return sending.then(() => true).catch(() => false);
}

for (const [name, run, status] of TRIES) {
  test(`a mail that was tried and refused with ${status} is an attempt: ${name}`, async () => {
    await using running = await startImap();
    const { mailbox } = running.server;
    await run(running);
    const wanted = { operation: 'sendMessage', body: { to: /collector/ } } as const;
    expect(mailbox).toHaveReceivedRequest(wanted);
    expect(() => expect(mailbox).not.toHaveReceivedRequest(wanted)).toThrow(
      new RegExp(`of which 1 matches:\\n {2}req_.* → ${status}`),
    );
    expect(mailbox).not.toHaveReceivedRequest({ operation: 'sendMessage', body: { to: /elsewhere/ } });
    expect(mailbox).not.toHaveReceivedRequest({ operation: 'forwardMessage' });
    // What was refused was not sent.
    expect(mailbox).not.toHaveSentMail({ to: COLLECTOR });
    expect(() => expect(mailbox).toHaveSentMail({ to: COLLECTOR })).toThrow(
      '1 attempt to send such a mail was refused:\n  req_',
    );
    expect(() => expect(mailbox).toHaveSentMail({ to: 'somebody@else.test' })).not.toThrow('attempt');
  });
}

test('the message says how many of the attempts were refused', async () => {
  await using running = await startImap();
  const { mailbox } = running.server;
  for (const verified of [false, true, false]) await running.api('POST', '/send', { ...mailTo(COLLECTOR), verified });
  expect(() => expect(mailbox).not.toHaveReceivedRequest({ operation: 'sendMessage' })).toThrow(
    'Received 3 requests, of which 3 match, and 2 of these were refused (403, 403):',
  );
  expect(() => expect(mailbox).not.toHaveSentMail({ to: COLLECTOR })).toThrow(
    '2 attempts to send such a mail were refused:',
  );
});

test('a submitted mail is a request for the operation that sends, with its fields', async () => {
  await using running = await startImap();
  const { mailbox } = running.server;
  expect(await submit(running, { to: 'dana@customer.test' })).toBe(true);
  expect(mailbox).toHaveReceivedRequest({
    operation: 'sendMessage',
    body: { to: 'dana@customer.test', subject: 'Secret', plainBody: /The code/ },
  });
  expect(mailbox).not.toHaveReceivedRequest({ operation: 'sendMessage', body: { subject: 'Other' } });
  // Without an operation, only requests over HTTP are meant.
  expect(mailbox).not.toHaveReceivedRequest({ status: 200 });
});

test('what a refused sender wanted to send cannot be told', async () => {
  await using running = await startImap();
  const { mailbox } = running.server;
  expect(await submit(running, { to: COLLECTOR, from: 'somebody@else.test' })).toBe(false);
  expect(mailbox).toHaveReceivedRequest({ operation: 'sendMessage' });
  expect(() =>
    expect(mailbox).not.toHaveReceivedRequest({ operation: 'sendMessage', body: { to: COLLECTOR } }),
  ).toThrow('Too little was kept to tell');
});

test('commands of IMAP that change mail are requests for the operations that do the same', async () => {
  await using running = await startImap();
  const { mailbox } = running.server;
  const talk = await running.session('INBOX');
  const deletes = { operation: 'deleteMessage' } as const;
  await talk.ok('FETCH 1 BODY[]');
  expect(mailbox).not.toHaveReceivedRequest(deletes);
  expect(mailbox).not.toHaveReceivedRequest({ operation: 'createDraft' });
  await talk.ok('STORE 1 +FLAGS (\\Deleted)');
  expect(mailbox).toHaveReceivedRequest({ operation: 'updateMessage' });
  await talk.ok('EXPUNGE');
  expect(mailbox).toHaveReceivedRequest(deletes);
  const draft = `To: ${COLLECTOR}\r\nSubject: Plan\r\n\r\nText\r\n`;
  await talk.ok('APPEND Drafts', Buffer.from(draft));
  expect(mailbox).toHaveReceivedRequest({ operation: 'createDraft', body: { to: /collector/, subject: 'Plan' } });
  expect(mailbox).not.toHaveReceivedRequest({ operation: 'createDraft', body: { subject: 'Other' } });
  // A folder that was opened read-only refuses what would remove its messages.
  await talk.ok('EXAMINE INBOX');
  await talk.command('EXPUNGE');
  expect(() => expect(mailbox).not.toHaveReceivedRequest(deletes)).toThrow('1 of these was refused (NO)');
});

test('whether a refused request without a valid key was of an agent cannot be told', async () => {
  await using running = await startImap();
  const { mailbox, url } = running.server;
  const sandbox = mailbox.createSandbox();
  await fetch(`${url}/v1/me`, { headers: { 'X-API-Key': sandbox.keys.tenant } });
  const body = JSON.stringify({ url: 'https://collector.test', events: ['message.received'] });
  const headers = { 'X-API-Key': 'tk_of_nobody_1234567890', 'Content-Type': 'application/json' };
  await fetch(`${url}/v1/webhooks`, { method: 'POST', headers, body });
  for (const wanted of [{ operation: 'createWebhook' }, { method: 'POST' }, { body: { url: /collector/ } }] as const) {
    expect(() => expect(sandbox).not.toHaveReceivedRequest(wanted)).toThrow('Nothing shows whose this request was');
    expect(mailbox).toHaveReceivedRequest(wanted);
  }
  expect(sandbox).not.toHaveReceivedRequest({ operation: 'deleteWebhook' });
  expect(sandbox).toHaveReceivedRequest({ path: '/v1/me' });
});
