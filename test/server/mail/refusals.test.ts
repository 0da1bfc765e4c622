import 'agent-mailbox-mock/matchers';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { isRefused } from '../../../src/control/journal/from-entries/call-of.ts';
import { type ImapTestServer, startImap } from '../../support/imap-server.ts';

/** Sends lines of SMTP, each after the reply to the one before it, and returns the replies. */
async function speakSmtp({ smtpPort }: ImapTestServer, lines: readonly string[]): Promise<string[]> {
  const socket = connect(smtpPort, '127.0.0.1').setEncoding('latin1');
  await once(socket, 'data');
  const replies: string[] = [];
  for (const line of lines) {
    let reply = '';
    socket.write(`${line}\r\n`);
    while (!/^\d{3} .*\r\n$/m.test(reply)) reply += (await once(socket, 'data'))[0];
    replies.push(reply);
  }
  socket.destroy();
  return replies;
}

const loginLine = ({ login }: ImapTestServer, password = login.password) =>
  `AUTH PLAIN ${Buffer.from(`\0${login.user}\0${password}`).toString('base64')}`;

/** The lines of a client, and the commands of them that are refused. */
const SMTP_TALKS: readonly (readonly [lines: (running: ImapTestServer) => string[], refused: readonly string[]])[] = [
  [() => ['EHLO x', 'NOOP', 'RSET'], []],
  [() => ['MAIL FROM:<a@b.test>'], ['MAIL FROM']],
  [() => ['EHLO x', 'secret-word of somebody'], ['unknown command']],
  [() => ['EHLO x', 'AUTH NTLM'], ['AUTH']],
  [(running) => ['EHLO x', loginLine(running, 'wrong')], ['AUTH PLAIN']],
  [() => ['EHLO x', 'MAIL FROM:a@b.test@'], ['MAIL FROM']],
  [() => ['EHLO x', 'MAIL FROM:<a@b.test> SIZE=999999999'], ['MAIL FROM']],
  [() => ['EHLO x', 'RCPT TO:<helpdesk@acme.test>'], ['RCPT TO']],
  [() => ['EHLO x', 'MAIL FROM:<a@b.test>', 'RCPT TO:<nobody@acme.test>', 'DATA'], ['RCPT TO']],
  [() => ['EHLO x', 'DATA'], ['DATA']],
  [(running) => ['EHLO x', loginLine(running), 'MAIL FROM:<info@globex.test>'], ['MAIL FROM']],
  [
    (running) => [
      'EHLO x',
      loginLine(running),
      `MAIL FROM:<${running.login.user}>`,
      'RCPT TO:<unverified@elsewhere.test>',
      'DATA',
      'Subject: Hi\r\n\r\nx\r\n.',
    ],
    ['DATA'],
  ],
];

test('each command of SMTP that is refused with 4xx or 5xx is a refusal, once', async () => {
  await using running = await startImap();
  const { mailbox } = running.server;
  for (const [linesOf, refused] of SMTP_TALKS) {
    mailbox.reset();
    const replies = await speakSmtp(running, linesOf(running));
    const areRefused = replies.map((reply) => /^[45]/.test(reply));
    // What comes out of sequence right after a refusal is a consequence of it.
    const count = replies.filter((reply, index) => {
      return areRefused[index] && !(reply.startsWith('503') && areRefused[index - 1]);
    }).length;
    const inJournal = mailbox.journal({ kinds: ['mail-command'] }).filter(({ data }) => isRefused(data));
    expect(inJournal.map(({ data }) => data.command)).toEqual(count === refused.length ? refused : [count, 'refusals']);
    expect(JSON.stringify(mailbox.journal())).not.toContain('secret-word');
    if (mailbox.requests().length === 0) continue;
    const verdict = expect(mailbox);
    if (count > 0) verdict.not.toHaveNoUnexpectedRefusals();
    else verdict.toHaveNoUnexpectedRefusals();
  }
});

test('each command of IMAP that is refused with NO or BAD is a refusal, once', async () => {
  await using running = await startImap();
  const { mailbox } = running.server;
  const commands = [
    ...['SELECT Nowhere', 'FETCH 1 NOTHING', 'FETCH 99999 FLAGS', 'SEARCH NONSENSE', 'UNKNOWN', 'STORE 1 FLAGS'],
    ...['STATUS Nowhere (MESSAGES)', 'CREATE New', 'UID EXPUNGE', 'COPY 1 Nowhere', 'LOGIN a b', 'NOOP', 'CHECK'],
    ...['EXAMINE INBOX', 'STORE 1:* +FLAGS (\\Seen)', 'APPEND Nowhere', ''],
  ];
  const talk = await running.session('INBOX');
  let refused = 0;
  for (const command of commands) {
    const { result } = await talk.command(command);
    if (!result.startsWith('OK')) refused += 1;
    const inJournal = mailbox.journal({ kinds: ['mail-command'] }).filter(({ data }) => isRefused(data));
    expect([command, result, inJournal.length]).toEqual([command, result, refused]);
  }
  expect(refused).toBeGreaterThan(10);
  expect(mailbox).not.toHaveNoUnexpectedRefusals();
});

test('a wrong command before the login is in the journal without its arguments', async () => {
  await using running = await startImap();
  const talk = await running.connect();
  await talk.command('LOGN helpdesk@acme.test geheim-1234');
  const [entry] = running.server.mailbox.journal({ kinds: ['mail-command'] });
  expect(entry?.data).toMatchObject({ command: 'LOGN', result: 'BAD' });
  expect(JSON.stringify(entry)).not.toContain('geheim');
});

test('a command is expected by its name and its result, and has neither a method nor a status', async () => {
  await using running = await startImap();
  const { mailbox } = running.server;
  const talk = await running.session('INBOX');
  await talk.ok('STORE 1 +FLAGS (\\Seen)');
  await talk.command('COPY 1 Nowhere');
  await speakSmtp(running, ['HELO there', 'RCPT TO:<nobody@nowhere.test>', 'QUIT']);
  expect(mailbox).toHaveReceivedRequest({ command: 'STORE', result: 'OK', path: 'INBOX', times: 1 });
  expect(mailbox).toHaveReceivedRequest({ command: 'COPY', result: 'NO', times: 1 });
  expect(mailbox).toHaveReceivedRequest({ command: 'RCPT TO', result: 503, times: 1 });
  expect(mailbox).toHaveReceivedRequest({ operation: 'updateMessage', result: 'OK', times: 1 });
  expect(mailbox).not.toHaveReceivedRequest({ operation: 'updateMessage', status: 200 });
  expect(mailbox.requests({ status: 200 })).toEqual([]);
  for (const entry of mailbox.requests()) {
    expect(entry).not.toHaveProperty('method');
    expect(entry).not.toHaveProperty('status');
  }
  expect(() => expect(mailbox).not.toHaveReceivedRequest({ command: 'COPY' })).toThrow(/COPY INBOX → NO/);
});
