import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { test } from 'vitest';
import { NEVER, runHere } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { serve } from '../../support/serve.ts';

const TO = 'helpdesk@acme.test';
const MAIL = ['receive', '--to', TO, '--from', 'dana@customer.test'];

test.for<[args: string[], env: NodeJS.ProcessEnv, said: string]>([
  [['receive'], {}, 'The command receive needs --to, or --eml; see --help.'],
  [['receive', '--to', TO], {}, 'The command receive needs --from, or --eml; see --help.'],
  [['receive', '--port', '1'], {}, 'The command receive does not take --port; see --help.'],
  [['receive', 'now'], {}, 'The command receive takes no argument, but got "now".'],
  [
    [...MAIL, '--url', 'localhost:4025'],
    {},
    '--url must be the URL of an emulator such as http://127.0.0.1:4025, not "localhost:4025".',
  ],
  [
    MAIL,
    { AGENT_MAILBOX_URL: 'ftp://x' },
    'AGENT_MAILBOX_URL must be the URL of an emulator such as http://127.0.0.1:4025, not "ftp://x".',
  ],
  [[...MAIL, '--eml', 'a.eml', '--text', 'x'], {}, '--eml cannot be used with --from, --text.'],
  [
    ['receive', '--to', TO, '--sample', 'two-from', '--cc', 'kim@visitor.test', '--header', 'X-A: b'],
    {},
    '--sample cannot be used with --cc, --header.',
  ],
  [
    [...MAIL, '--header', 'List-Id'],
    {},
    '--header must be <name>: <value>, such as "List-Id: <a.list.test>", not "List-Id".',
  ],
])('refuses to receive with %j and %j in the environment', async ([args, env, said], { expect }) => {
  expect(await runHere(args, env, { interrupted: NEVER })).toEqual({
    code: 2,
    out: [],
    err: `agent-mailbox-mock: ${said}`,
  });
});

test.for<[title: string, args: string[], input: string, arrived: object]>([
  ['a text', ['--subject', 'Hi', '--text', 'Hello!'], 'unread', { subject: 'Hi', plainBody: 'Hello!', htmlBody: null }],
  ['a text from stdin', ['--text', '-'], 'Hello\nthere!\n', { subject: '', plainBody: 'Hello\nthere!\n' }],
  ['HTML', ['--html', '<p>Hi</p>'], '', { plainBody: '', htmlBody: '<p>Hi</p>' }],
  ['an answer', ['--in-reply-to', '<login-1@customer.test>'], '', { threadId: 'ac3e0000-0007-4000-8000-000000000001' }],
])('receives %s', async ([, args, input, arrived], { expect }) => {
  await using server = await startServer({ port: 0 });
  const received = await runHere(
    [...MAIL, ...args],
    { AGENT_MAILBOX_URL: `${server.url}/` },
    { input, interrupted: NEVER },
  );
  const [message] = latestIn(server, 'Acme', 1);
  expect(received).toEqual({
    code: 0,
    out: [`Message ${message?.id} arrived in inbox ${message?.inboxId}, thread ${message?.threadId}.`],
    err: '',
  });
  expect(message).toMatchObject({ from: 'dana@customer.test', to: [TO], ...arrived });
});

test('receives a mail with a copy, an address for answers, and further header fields', async ({ expect }) => {
  await using server = await startServer({ port: 0 });
  const args = [
    ...[...MAIL, '--cc', 'kim@visitor.test', '--cc', 'Lee <lee@visitor.test>', '--reply-to', 'desk@customer.test'],
    ...['--header', 'List-Id: <news.list.test>', '--header', 'Auto-Submitted:auto-generated', '--url', server.url],
  ];
  expect((await runHere(args, {}, { interrupted: NEVER })).code).toBe(0);
  expect(server.mailbox.messages()).toMatchObject([
    {
      cc: ['kim@visitor.test', 'Lee <lee@visitor.test>'],
      replyTo: 'desk@customer.test',
      headers: { 'list-id': '<news.list.test>', 'auto-submitted': 'auto-generated' },
    },
  ]);
  const wrong = await runHere([...MAIL, '--header', 'To: x', '--url', server.url], {}, { interrupted: NEVER });
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('use the field of the message for it') });
});

test('receives in several inboxes, with files, and says so in one line of JSON', async (test) => {
  await using server = await startServer({ port: 0 });
  const file = join(await makeFolder(test), 'order.txt');
  await writeFile(file, 'one chair');
  const args = [...MAIL, '--to', 'Info <info@globex.test>', '--attach', file, '--json', '--url', server.url];
  const { code, out, err } = await runHere(args, {}, { interrupted: NEVER });
  test.expect([code, out.length, err]).toEqual([0, 1, '']);
  const { messages } = JSON.parse(out.join());
  const arrived = [...latestIn(server, 'Acme', 1), ...latestIn(server, 'Globex', 1)];
  test.expect(messages.map(({ id }: { id: string }) => id)).toEqual(arrived.map(({ id }) => id));
  const files = server.mailbox.snapshot().tenants.flatMap(({ attachments }) => attachments);
  test
    .expect(files.filter(({ filename }) => filename === 'order.txt').map(({ content }) => atob(content)))
    .toEqual(['one chair', 'one chair']);
});

test('receives a raw mail, and sends the token if the server requires one', async (test) => {
  await using server = await startServer({ port: 0, host: '0.0.0.0' });
  const file = join(await makeFolder(test), 'mail.eml');
  const eml = `From: Dana <dana@customer.test>\r\nTo: ${TO}\r\nSubject: Whole\r\n\r\nHello!\r\n`;
  await writeFile(file, eml);
  const args = ['receive', '--eml', file, '--url', `http://127.0.0.1:${server.port}`];

  const refused = await runHere(args, {}, { interrupted: NEVER });
  test.expect([refused.code, refused.out]).toEqual([1, []]);
  test.expect(refused.err).toMatch(/^agent-mailbox-mock: .*token.*\.$/i);

  const { code, err } = await runHere([...args, '--token', String(server.controlToken)], {}, { interrupted: NEVER });
  test.expect([code, err]).toEqual([0, '']);
  const [message] = latestIn(server, 'Acme', 1);
  test.expect([message?.subject, atob(String(message?.raw))]).toEqual(['Whole', eml]);
});

test('receives with an envelope and the results of authentication', async (test) => {
  await using server = await startServer({ port: 0 });
  const args = ['--envelope-from', '<>', '--auth', 'spf=fail', '--auth', 'dmarc=none', '--url', server.url];
  const { code, err } = await runHere([...MAIL, ...args], {}, { interrupted: NEVER });
  test.expect([code, err]).toEqual([0, '']);
  test.expect(server.mailbox.messages().at(-1)?.headers).toMatchObject({
    'return-path': '<>',
    'authentication-results': 'mailbox.test (agent-mailbox-mock); spf=fail; dmarc=none header.from=customer.test',
  });
  const wrong = await runHere([...MAIL, '--auth', 'spf', '--url', server.url], {}, { interrupted: NEVER });
  test.expect([wrong.code, wrong.err]).toEqual([2, 'agent-mailbox-mock: --auth must be <method>=<result>, not "spf".']);
});

test('says why a mail does not arrive', async (test) => {
  await using server = await startServer({ port: 0 });
  const before = server.mailbox.snapshot();
  const { port } = server;
  const folder = await makeFolder(test);
  const cases: [args: string[], said: string][] = [
    [[...MAIL, '--to', 'no@acme.test'], 'There is no inbox with the address no@acme.test.'],
    [[...MAIL, '--attach', folder], `The file ${folder} cannot be read: it is a directory.`],
    [['receive', '--eml', join(folder, 'x')], `The file ${join(folder, 'x')} cannot be read: there is no such file.`],
    [[...MAIL, '--url', `http://127.0.0.1:${port}/x`], 'There is no route /x/__mock/messages.'],
    [
      [...MAIL, '--url', 'http://127.0.0.1:1'],
      'No emulator is running at http://127.0.0.1:1; start one, or give its address with --url.',
    ],
  ];
  for (const [args, said] of cases) {
    const { code, out, err } = await runHere(args, { AGENT_MAILBOX_URL: server.url }, { interrupted: NEVER });
    test.expect([code, out]).toEqual([1, []]);
    test.expect(err).toContain(`agent-mailbox-mock: ${said}`);
  }
  test.expect(server.mailbox.snapshot()).toEqual(before);
});

/** The latest messages of a tenant. */
function latestIn({ mailbox }: MailboxServer, tenant: string, count: number) {
  return (
    mailbox
      .snapshot()
      .tenants.find(({ name }) => name === tenant)
      ?.messages.slice(-count) ?? []
  );
}

test.for<[args: string[], reply: string]>([
  [MAIL, '{}'],
  [MAIL, 'null'],
  [['trigger', 'message.sent'], '[]'],
])('%j says that a server with the reply %j is not an emulator', async ([args, reply], { expect }) => {
  await using other = await serve((_, response) => {
    response.setHeader('Content-Type', 'application/json').end(reply);
  });
  const { origin } = new URL(other.url);
  expect(await runHere([...args, '--url', origin], {}, { interrupted: NEVER })).toEqual({
    code: 1,
    out: [],
    err: `agent-mailbox-mock: ${origin} is not an agent-mailbox-mock server.`,
  });
});
