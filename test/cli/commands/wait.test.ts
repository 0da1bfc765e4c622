import { startServer } from 'agent-mailbox-mock/server';
import { type ExpectStatic, test } from 'vitest';
import { NEVER, runHere } from '../../support/command.ts';

const TO = 'helpdesk@acme.test';
const MAIL = { to: TO, from: 'login@shop.test' };

/** Runs the command for a server, and returns what it prints. */
async function start(...words: readonly string[]) {
  const server = await startServer({ port: 0 });
  const run = (...more: readonly string[]) =>
    runHere(['wait', '--url', server.url, ...words, ...more], {}, { interrupted: NEVER });
  return { mailbox: server.mailbox, run, [Symbol.asyncDispose]: () => server.close() };
}

const printed = (expect: ExpectStatic, out: readonly unknown[]) => ({
  code: 0,
  out: out.map((each) => each),
  err: expect.any(String),
});

test('waits for a mail and prints its code or its link', async ({ expect }) => {
  await using service = await start('--to', TO);
  const waiting = service.run('--code', '--link');
  await service.mailbox.receiveMessage({ ...MAIL, plainBody: 'Your code: 204811, or https://shop.test/login?t=1' });
  expect(await waiting).toEqual(printed(expect, ['204811', 'https://shop.test/login?t=1']));
  expect(await service.run('--link')).toEqual(printed(expect, ['https://shop.test/login?t=1']));
});

test('prints a mail, in which nothing can control the terminal', async ({ expect }) => {
  await using service = await start('--to', TO);
  const [mail] = await service.mailbox.receiveMessage({ ...MAIL, subject: 'Hi', plainBody: 'One\n\u001b[2JTwo\n' });
  expect(await service.run()).toEqual(
    printed(expect, [`Message ${mail?.id}`, 'From: login@shop.test', `To: ${TO}`, 'Subject: Hi', '', 'One', '?[2JTwo']),
  );
  const { out } = await service.run('--json');
  expect(JSON.parse(out.join(''))).toMatchObject({ id: mail?.id, subject: 'Hi', code: null, link: null });
});

test('says what is missing: the mail, its code, or its recipient', async ({ expect }) => {
  await using service = await start();
  const [mail] = await service.mailbox.receiveMessage({ ...MAIL, subject: 'Hi', plainBody: 'Welcome.' });
  expect(await service.run('--to', TO, '--code')).toEqual({
    code: 1,
    out: [],
    err: `agent-mailbox-mock: The mail ${mail?.id} with the subject "Hi" has no code.`,
  });
  expect(await service.run('--to', TO, '--subject', 'Invoice', '--timeout', '1ms')).toMatchObject({
    code: 1,
    err: expect.stringContaining('with "Invoice" in its subject arrived within 1 ms; what came instead: "Hi"'),
  });
  expect(await service.run('--to', TO, '--direction', 'up')).toMatchObject({
    code: 1,
    err: expect.stringContaining('direction must be inbound or outbound'),
  });
  expect(await service.run('--to', TO, '--to', 'info@globex.test')).toMatchObject({ code: 2 });
  expect(await service.run()).toMatchObject({
    code: 2,
    err: 'agent-mailbox-mock: The command wait needs one --to <address>; see --help.',
  });
});
