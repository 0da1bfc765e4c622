import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMailbox, FixtureError } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import type { TestContext } from 'vitest';
import { test } from 'vitest';
import { linesOf, runHere } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { COMMAND, run, runCommand, SCRIPT, startCommand } from '../../support/processes.ts';
import { send } from '../../support/send.ts';

const ORDERS = 'orders@initech.test';

const mail = (subject: string, to = `Orders <${ORDERS}>`, from = 'Dana <dana@customer.test>') =>
  `From: ${from}\r\nTo: ${to}\r\nDate: Tue, 6 Jan 2026 08:00:00 -0000\r\nMessage-ID: <${subject}@customer.test>\r\nSubject: ${subject}\r\n\r\nGr\xfc\xdfe\r\n`;

const fixtureWith = (...messages: object[]) => ({
  tenants: { initech: { workspaces: { main: { inboxes: { orders: { messages } } } } } },
});

/** Writes files into a new folder; a text is written as Latin-1. */
async function writeFiles(context: TestContext, files: Record<string, string | object>): Promise<string> {
  const folder = await makeFolder(context);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content), 'latin1');
  }
  return folder;
}

/** Lists the messages of the inbox, oldest first, with their raw form. */
async function listMessages(url: string) {
  const key = 'ak_initech_orders_key';
  const { json } = await send(`${url}/v1/messages?folder=inbox`, 'GET', { key });
  const messages = json.messages.reverse();
  return Promise.all(
    messages.map(async ({ id, inboxId }: { id: string; inboxId: string }) => {
      const path = `${url}/v1/inboxes/${inboxId}/messages/${id}`;
      const raw = await send(`${path}/raw`, 'GET', { key });
      return { ...(await send(path, 'GET', { key })).json, raw: Buffer.from(raw.bytes).toString('latin1') };
    }),
  );
}

test('a fixture file names mail files beside it, which become messages', async (context) => {
  const mbox = `From dana@customer.test Tue Jan  6 08:00:00 2026\n${mail('two').replace('Gr', '>From Gr')}\nFrom - x\n${mail('three')}`;
  const folder = await writeFiles(context, {
    'mailbox.json': fixtureWith(
      { eml: 'mails/one.eml', isStarred: true },
      { from: 'kim@visitor.test', subject: 'Written out', receivedAt: '2026-01-06T08:00:00.001Z' },
      { eml: 'mails/more.mbox' },
    ),
    'mails/one.eml': mail('one'),
    'mails/more.mbox': mbox,
  });
  const { ready } = await startCommand(context, ['--fixtures', join(folder, 'mailbox.json')]);
  const [one, two, three, written] = await listMessages(ready.url);
  context
    .expect([one.subject, two.subject, three.subject, written.subject])
    .toEqual(['one', 'two', 'three', 'Written out']);
  context.expect(one).toMatchObject({
    from: 'dana@customer.test',
    to: ORDERS,
    plainBody: 'Grüße\n',
    isStarred: true,
    receivedAt: '2026-01-06T08:00:00.000Z',
    messageIdHeader: '<one@customer.test>',
  });
  context.expect(one.raw).toBe(mail('one'));
  context.expect(two.raw).toBe(mail('two').replace('Gr', 'From Gr'));
  context.expect(three.raw).toBe(mail('three'));
});

test('an mbox without a mail is refused', async (context) => {
  const folder = await writeFiles(context, {
    'mailbox.json': fixtureWith({ eml: 'cut.mbox' }),
    'cut.mbox': 'From dana',
  });
  const { code, err } = await runHere(['-p', '0', '-f', join(folder, 'mailbox.json')]);
  context
    .expect([code, err])
    .toEqual([1, context.expect.stringContaining('"cut.mbox" cannot be read: it is an mbox without a mail')]);
});

test('--mail adds files to the inboxes that they name, and a reset restores them', async (context) => {
  const folder = await writeFiles(context, {
    'mailbox.json': fixtureWith(),
    'in/a.eml': mail('a', 'list@else.test').replace('To:', `Delivered-To: ${ORDERS}\r\nTo:`),
    'in/deep/b.eml': mail('b', 'Orders+tag@Initech.test'),
    'in/deep/c.txt': 'no mail',
    'Maildir/cur/1.host:2,S': mail('c'),
    'sent.mbox': `From x\n${mail('d', 'kim@visitor.test', ORDERS)}`,
  });
  const { ready } = await startCommand(context, [
    ...['--fixtures', join(folder, 'mailbox.json')],
    ...['--mail', join(folder, 'in'), '--mail', join(folder, 'Maildir/cur/*'), '--mail', join(folder, '{sent,x}.mbox')],
  ]);
  const subjects = async () => (await listMessages(ready.url)).map(({ subject }) => subject).sort();
  context.expect(await subjects()).toEqual(['a', 'b', 'c']);
  const { json } = await send(`${ready.url}/v1/messages?folder=sent`, 'GET', { key: 'ak_initech_orders_key' });
  context.expect(json.messages).toMatchObject([{ subject: 'd', direction: 'outbound' }]);
  await send(`${ready.url}/__mock/reset`, 'POST', {});
  context.expect(await subjects()).toEqual(['a', 'b', 'c']);
});

test('--mail takes a Maildir, or a folder with several', async (context) => {
  const folder = await writeFiles(context, {
    'mailbox.json': fixtureWith(),
    'md/cur/1700000000.M1P2.host:2,S': mail('read'),
    'md/cur/1700000001.eml': mail('named'),
    'md/new/1700000002.M1P2.host': mail('unread'),
    'md/tmp/1700000003.M1P2.host': mail('unfinished'),
    'md/new/.DS_Store': 'no mail',
    'md/dovecot-uidlist': 'no mail',
    'md/.Archive/cur/1600000000.M1P2.host:2,S': mail('archived'),
  });
  for (const [name, subjects] of [
    ['md', ['archived', 'named', 'read', 'unread']],
    ['md/new', ['unread']],
    ['.', ['archived', 'named', 'read', 'unread']],
  ] as const) {
    const args = ['--fixtures', join(folder, 'mailbox.json'), '--mail', join(folder, name)];
    const { ready } = await startCommand(context, args);
    const found = (await listMessages(ready.url)).map(({ subject }) => subject);
    context.expect(found.sort(), name).toEqual(subjects);
  }
});

test('--mail works without a fixture, also with mail that has no sender', async (context) => {
  const folder = await writeFiles(context, { 'a.eml': 'To: helpdesk@acme.test\r\nSubject: No sender\r\n\r\nHi' });
  const { ready } = await startCommand(context, ['--mail', join(folder, '*.eml')]);
  const { json } = await send(`${ready.url}/v1/messages?folder=inbox`, 'GET', { key: ready.keys.tenant });
  const all = json.messages.map(({ subject, from }: { subject: string; from: string }) => [subject, from]);
  context.expect(all).toContainEqual(['No sender', '']);
});

/** A folder with a fixture and an mbox of this many mails, as arguments. */
async function manyMails(context: TestContext, count: number): Promise<string[]> {
  const mbox = Array.from({ length: count }, (_, index) => `From x\n${mail(`m${index}`)}\n`).join('');
  const folder = await writeFiles(context, { 'mailbox.json': fixtureWith(), 'all.mbox': mbox });
  return ['-p', '0', '-f', join(folder, 'mailbox.json'), '--mail', join(folder, 'all.mbox')];
}

test('says what was loaded at the end, in the banner, and beside JSON if it was much', async (context) => {
  const [few, many] = [await manyMails(context, 2), await manyMails(context, 1000)];
  const banner = (await runHere(many)).out.join('\n');
  context.expect(banner).toMatch(/^ {2}Loaded {5}1 tenant, 1 inbox, 1,000 messages in \d+\.\d s$/m);
  context.expect(await runHere([...few, '--json'])).toMatchObject({ code: 0, err: '' });
  const { out, err } = await runHere([...many, '--json']);
  context.expect(out).toHaveLength(1);
  context.expect(err).toMatch(/^agent-mailbox-mock: Loaded 1 tenant, 1 inbox, 1,000 messages in \d+\.\d s\.$/);
});

test('shows on a terminal how much mail was read, and removes that at the end', async (context) => {
  const shown: string[] = [];
  const args = await manyMails(context, 6000);
  const { code, err } = await runHere(args, {}, { showStatus: (text) => shown.push(text) });
  context.expect([code, err]).toEqual([0, '']);
  context.expect(shown.slice(-2)).toEqual(['Loading 6,000 messages', '']);
  for (const text of shown.slice(0, -2)) context.expect(text).toMatch(/^Reading mail: [\d,]+ of 6,000$/);
});

test.runIf(process.platform === 'linux' && existsSync(SCRIPT))(
  'shows its progress on a real terminal',
  async (context) => {
    const words = [...COMMAND, ...(await manyMails(context, 1000))].map((word) => `'${word}'`);
    const running = run(context, [SCRIPT, '-qefc', `exec ${words.join(' ')}`, '/dev/null'], { env: { TERM: 'xterm' } });
    const shown = await running.untilStdout(/Ready\.\r\n/);
    context.expect(shown).toContain('\r\u001b[KLoading 1,000 messages\r\u001b[K');
    running.child.stdin?.write('q\n');
    context.expect(await running.ended).toEqual({ code: 0, signal: null });
  },
);

test('removes what it shows on a terminal also if a mail is wrong', async (context) => {
  const shown: string[] = [];
  const folder = await writeFiles(context, { 'a.eml': mail('a', 'nobody@else.test') });
  const args = ['-p', '0', '--mail', join(folder, 'a.eml')];
  const { code } = await runHere(args, {}, { showStatus: (text) => shown.push(text) });
  context.expect([code, shown.at(-1)]).toEqual([1, '']);
});

test('says which mail file is wrong', async (context) => {
  const folder = await writeFiles(context, {
    'mailbox.json': fixtureWith({ eml: 'none.eml' }),
    'a.eml': mail('a', 'nobody@else.test'),
    'big.eml': mail('b') + 'x'.repeat(11 * 1024 * 1024),
  });
  const cases: [args: string[], said: RegExp][] = [
    [['--mail', join(folder, 'x*.eml')], /^agent-mailbox-mock: The glob ".*x\*\.eml" of --mail names no file\.\n$/],
    [
      ['--mail', join(folder, 'a.eml')],
      /a\.eml has a mail to nobody@else\.test, and no inbox of the fixture has this address\.\n$/,
    ],
    [
      ['--mail', join(folder, 'big.eml')],
      /^agent-mailbox-mock: The mail file .+\/big\.eml cannot be read: it has a mail of 11 MiB, and the limit is 10 MiB\.\n$/,
    ],
    [
      ['--fixtures', join(folder, 'mailbox.json')],
      /\n {2}\$\.tenants\.initech\.workspaces\.main\.inboxes\.orders\.messages\[0\]\.eml must be the path of a mail or of an mbox: "none\.eml" cannot be read: there is no such file\n$/,
    ],
  ];
  for (const [args, said] of cases) {
    const command = runCommand(context, ['--port', '0', ...args]);
    context.expect((await command.ended).code).toBe(1);
    context.expect(command.stderr).toMatch(said);
  }
});

test('validate lists each problem with mail files', async (context) => {
  const messages = [
    { eml: 5 },
    { eml: 'two.mbox' },
    { eml: 'mails' },
    { eml: 'big.eml' },
    { eml: 'a.eml', foo: 1 },
    { eml: 'none.eml' },
  ];
  const folder = await writeFiles(context, {
    'mailbox.json': fixtureWith(...messages),
    'a.eml': mail('a'),
    'two.mbox': `From x\n${mail('one')}\nFrom x\n${mail('two')}`,
    'big.eml': mail('b') + 'x'.repeat(11 * 1024 * 1024),
    'mails/a.eml': mail('a'),
  });
  const command = runCommand(context, ['validate', join(folder, 'mailbox.json')]);
  context.expect((await command.ended).code).toBe(1);
  const list = '$.tenants.initech.workspaces.main.inboxes.orders.messages';
  const rule = 'must be the path of a mail or of an mbox';
  context
    .expect(linesOf(command.stderr).slice(1))
    .toEqual([
      `  ${list}[0].from is required`,
      `  ${list}[0].eml must be the path of a file`,
      `  ${list}[2].eml ${rule}: "mails" cannot be read: it is a directory`,
      `  ${list}[3].eml ${rule}: "big.eml" cannot be read: it has a mail of 11 MiB, and the limit is 10 MiB`,
      `  ${list}[4].foo is an unknown field`,
      `  ${list}[5].eml ${rule}: "none.eml" cannot be read: there is no such file`,
    ]);
  await context
    .expect(startServer({ port: 0, fixtures: fixtureWith({ eml: 5 }) as never }))
    .rejects.toThrow(/\.eml must be the path of a file$/);
});

test('startServer reads the mail files of a fixture, and createMailbox says that it does not', async (context) => {
  const folder = await writeFiles(context, { 'a.eml': mail('a') });
  const fixtures = fixtureWith({ eml: join(folder, 'a.eml') });
  await using server = await startServer({ port: 0, fixtures });
  context.expect((await listMessages(server.url)).map(({ subject }) => subject)).toEqual(['a']);
  context.expect(() => createMailbox({ fixtures })).toThrow(FixtureError);
  context
    .expect(() => createMailbox({ fixtures }))
    .toThrow(/eml must be the path of a file, and only startServer and the command read files/);
});
