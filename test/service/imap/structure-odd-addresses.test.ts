import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { startImap, toMail } from '../../support/imap-server.ts';
import { readFetch, type Value } from '../../support/imap-talk.ts';

const MAIL = toMail(
  [
    'From: root (Cron Daemon)',
    'To: A Group(Some people):Chris <c@(x)public.example>,joe@example.org;, <@machine.tld:mary@example.net>',
    'Cc: pete(his account)@silly.test(his host), jdoe@test   . example, user@[IPv6:2001:db8::1],',
    ' =?utf-8?q?J=C3=B6rg?= <j@x.test>, \xc3\xa0 la carte <carte@x.test>',
    'Bcc: "a b"@x.test, Team <team>',
    'Subject: Odd',
    '',
    'Hello',
    '',
  ].join('\n'),
);

const address = (name: string | null, local: string, domain: string, route: string | null = null): Value => [
  name,
  route,
  local,
  domain,
];

test('ENVELOPE and SEARCH read addresses with comments, routes, spaces, literals and without a domain', async () => {
  await using running = await startImap();
  const talk = await running.session('INBOX');
  await talk.ok('APPEND INBOX', MAIL);
  const [line = ''] = (await talk.ok('FETCH * (ENVELOPE)')).filter((each) => each.includes('FETCH'));
  const [, , from, , , to, cc, bcc] = readFetch(line).ENVELOPE as Value[];
  expect([from, to, cc, bcc]).toEqual([
    [address('Cron Daemon', 'root', '')],
    [
      [null, null, 'A Group', null],
      address('Chris', 'c', 'public.example'),
      address(null, 'joe', 'example.org'),
      [null, null, null, null],
      address(null, 'mary', 'example.net', '@machine.tld'),
    ],
    [
      address('his host', 'pete', 'silly.test'),
      address(null, 'jdoe', 'test.example'),
      address(null, 'user', '[IPv6:2001:db8::1]'),
      address('=?utf-8?q?J=C3=B6rg?=', 'j', 'x.test'),
      address('\xc3\xa0 la carte', 'carte', 'x.test'),
    ],
    [address(null, 'a b', 'x.test'), address('Team', 'team', '')],
  ]);
  const finds = async (key: string) => {
    const [found = ''] = (await talk.ok(`SEARCH SUBJECT Odd ${key}`)).filter((each) => each.startsWith('SEARCH'));
    return found !== 'SEARCH';
  };
  const found = [
    'FROM "cron daemon <root>"',
    'TO c@public.example',
    'TO "a group"',
    'TO mary@example.net',
    'CC pete@silly.test',
    'CC jdoe@test.example',
    'CC [IPv6:2001:db8::1]',
    'CC J\xc3\xb6rg',
    'CC "\xc3\xa0 la carte"',
    'BCC "Team <team>"',
    'FROM ""',
    'HEADER To "c@(x)public"',
  ];
  for (const key of found) expect(await finds(key), key).toBe(true);
  for (const key of ['TO "some people"', 'TO machine.tld', 'CC "his account"', 'FROM dana']) {
    expect(await finds(key), key).toBe(false);
  }
});

test('over SMTP, the sender of the header stays if it has no domain, and a missing one is that of the envelope', async () => {
  await using running = await startImap();
  await using transport = Object.assign(createTransport({ host: '127.0.0.1', port: running.smtpPort, secure: false }), {
    async [Symbol.asyncDispose]() {
      transport.close();
    },
  });
  const envelope = { from: 'bounces@x.test', to: running.login.user };
  const senders = ['From: Mail Delivery System <MAILER-DAEMON>', 'From: root (Cron Daemon)', 'From:', 'X-None: 1'];
  for (const field of senders) {
    await transport.sendMail({ envelope, raw: Buffer.from(`${field}\r\nSubject: Hi\r\n\r\nHello\r\n`) });
  }
  expect(running.server.mailbox.messages().map(({ from }) => from)).toEqual([
    'Mail Delivery System <MAILER-DAEMON>',
    'Cron Daemon <root>',
    'bounces@x.test',
    'bounces@x.test',
  ]);
});
