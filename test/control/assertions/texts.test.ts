import 'agent-mailbox-mock/matchers';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { startImap, toMail } from '../../support/imap-server.ts';

interceptRequests();

const DANA = 'dana@customer.test';
const INBOX = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`;
const KEY = 'tk_acme_tenant_key';
const CODE = 'KLLRRNKK';

async function call({ send }: Pick<Service, 'send'>, path: string, json: object) {
  const reply = await send('POST', INBOX + path, { key: KEY, json });
  expect(reply.status).toBeLessThan(300);
  return reply.json as { readonly id: string };
}

/** What an agent sends with the code in it, by where it is. */
const MAILS: Readonly<Record<string, object>> = {
  subject: { subject: `Re: ${CODE.toLowerCase()}` },
  'plain body': { plainBody: `Hi,\r\n${CODE}` },
  'HTML body': { htmlBody: '<p>KL<b>LRRN</b>KK</p>' },
  'HTML comment': { htmlBody: `<p>Hi</p><!--${CODE}-->` },
  link: { htmlBody: '<a href="https://x.test/%4b%4c%4cRRNKK">Hi</a>' },
  'name of a recipient': { to: `"${CODE}" <${DANA}>` },
  'address of a recipient': { cc: `${CODE}@collector.test` },
  'tag of a recipient': { bcc: `eve+${CODE}@collector.test` },
  entities: { plainBody: [...CODE].map((letter) => `&#${letter.charCodeAt(0)};`).join('') },
  base64: { plainBody: `Token: ${btoa(`The code is ${CODE}`)}` },
};

const FOUND = [
  CODE,
  'kllrrnkk',
  /KLLRRNKK/i,
  [CODE, 'llrr'],
  expect.stringMatching(/kllrrnkk/i),
] as const satisfies readonly unknown[];
const NOT_FOUND = ['KLLRRNK K', 'KLLRRNKX', /^RRNKK/, [CODE, 'Order 8']] as const;

for (const [place, changes] of Object.entries(MAILS)) {
  everywhere(`finds a text in a mail and in a draft: ${place}`, async (service) => {
    const { mailbox } = service;
    const mail = { to: DANA, subject: 'Hi', plainBody: 'Hello', verified: true, ...changes };
    await call(service, '/send', mail);
    await call(service, '/drafts', { ...mail, verified: undefined });
    await call(service, '/send', {
      ...mail,
      ...Object.fromEntries(Object.keys(changes).map((name) => [name, undefined])),
      to: DANA,
      subject: 'Other',
    });
    for (const text of FOUND) {
      expect(mailbox).toHaveSentMail({ text, times: 1 });
      expect(mailbox).toHaveSentOnce({ text });
      expect(mailbox).toHaveDraft({ text, times: 1 });
      expect(mailbox).not.toHaveSentMail({ text, subject: 'Other' });
    }
    for (const text of NOT_FOUND) {
      expect(mailbox).not.toHaveSentMail({ text });
      expect(mailbox).toHaveDraft({ text, times: 0 });
    }
    expect(mailbox).toHaveSentMail({ text: expect.not.stringContaining(CODE), times: 1, subject: 'Other' });
  });
}

everywhere('finds a text in a forward, also in the original that it has', async (service) => {
  const { mailbox } = service;
  const [mail] = await mailbox.receiveMessage({
    to: 'helpdesk@acme.test',
    from: DANA,
    subject: 'A',
    plainBody: `${CODE}, please.`,
  });
  await call(service, `/forward/${mail?.id}`, { to: 'boss@acme.test', verified: true });
  expect(mailbox).toHaveForwarded(mail as never, { text: CODE });
  expect(mailbox).not.toHaveForwarded(mail as never, { text: 'Order 8' });
});

everywhere('shows a part of the texts that do not have what was expected', async (service) => {
  await call(service, '/send', { to: DANA, subject: 'Hi', plainBody: 'x'.repeat(9_000), verified: true });
  const failing = () => expect(service.mailbox).toHaveSentMail({ text: CODE });
  expect(failing).toThrow(/text\n {4}expected: .*KLLRRNKK.*\n {4}received: .*Hi\n? *x{400,500}/);
  expect(failing).not.toThrow(/x{600}/);
});

test.for([[''], [' \u200b '], [7], [null], [[]], [['a', '']], [{ a: 1 }]] as const)(
  'refuses the text %j, with which an assertion would show nothing',
  async ([text]) => {
    const { createMailbox } = await import('agent-mailbox-mock');
    const failing = () => expect(createMailbox()).not.toHaveSentMail({ text });
    expect(failing).toThrow('The field text of toHaveSentMail must be a text that is not empty');
  },
);

/** How a client can write the address of a person, and how a test can. */
const WRITTEN = ['dana@münchen.test', 'Dana <DANA@xn--mnchen-3ya.test>', '"eve@evil.test" <dana+x@münchen.test>'];
const EXPECTED = [
  'dana@münchen.test',
  'Dana@XN--MNCHEN-3YA.test',
  '"dana"@münchen.test',
  'dana+y@münchen.test',
  'Somebody <dana@münchen.test>',
  /^dana(\+x)?@münchen\.test$/,
  /@xn--mnchen-3ya\.test$/,
  expect.stringMatching(/^[^"<>]+$/),
] as const;
const NOT_EXPECTED = [
  'ana@münchen.test',
  'dana@notmünchen.test',
  'dana@munchen.test',
  'eve@evil.test',
  /evil/,
  /</,
  /Dana </,
  /@münchen\.test\.evil/,
] as const;

for (const written of WRITTEN) {
  everywhere(`compares the person of ${written}, and never the name`, async (service) => {
    const { mailbox } = service;
    for (const field of ['to', 'cc', 'bcc']) {
      await call(service, '/send', {
        to: 'boss@acme.test',
        subject: field,
        plainBody: 'Hi',
        verified: true,
        [field]: written,
      });
    }
    for (const field of ['to', 'cc', 'bcc']) {
      for (const each of EXPECTED) expect(mailbox).toHaveSentMail({ subject: field, [field]: each });
      for (const each of NOT_EXPECTED) expect(mailbox).not.toHaveSentMail({ subject: field, [field]: each });
    }
    expect(mailbox).toHaveSentMail({ subject: 'to', recipients: ['dana@münchen.test'] });
    expect(mailbox).not.toHaveSentMail({ subject: 'cc', recipients: ['dana@münchen.test'] });
  });
}

everywhere('takes tags as addresses of their own where the service does', async (service) => {
  const { mailbox } = service;
  await call(service, '/send', { to: 'dana+x@customer.test', subject: 'Hi', plainBody: 'Hi', verified: true });
  expect(mailbox).toHaveSentMail({ to: DANA });
  mailbox.changeBehaviours({ 'sending.plus-tags': 'exact' });
  expect(mailbox).not.toHaveSentMail({ to: DANA });
  expect(mailbox).toHaveSentMail({ to: 'Dana+X@customer.test' });
});

test('believes the envelope of a submitted mail, not its header', async () => {
  await using running = await startImap();
  const { smtpPort: port, login, server } = running;
  const auth = { user: login.user, pass: login.password };
  const smtp = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, auth });
  await smtp.sendMail({
    from: login.user,
    to: `Dana <${DANA}>, boss@acme.test`,
    cc: 'kim@visitor.test',
    subject: 'Hi',
    text: 'Hello',
    attachments: [{ filename: 'a.csv', content: `id;code\n1;${CODE}` }],
    headers: { 'X-Note': 'remember this' },
    envelope: { from: login.user, to: ['eve@evil.test', 'dana@customer.test'] },
  });
  smtp.close();
  const { mailbox } = server;
  expect(mailbox).toHaveSentMail({ to: ['dana@customer.test', 'eve@evil.test'], bcc: 'eve@evil.test', cc: [] });
  expect(mailbox).toHaveSentMail({ recipients: [DANA, 'eve@evil.test'], only: true });
  expect(mailbox).not.toHaveSentMail({ to: 'boss@acme.test' });
  expect(mailbox).not.toHaveSentMail({ cc: 'kim@visitor.test' });
  expect(mailbox).toHaveSentMail({ text: [CODE, 'remember this', 'a.csv'] });
  expect(() => expect(mailbox).toHaveSentMail({ to: 'boss@acme.test' })).toThrow(
    '"Hi" to Dana <dana@customer.test>, eve@evil.test (eve@evil.test in Bcc)',
  );
});

everywhere('counts a draft and a webhook also as they were before they were changed', async ({ mailbox, send }) => {
  const draft = await call({ send }, '/drafts', { to: 'eve@evil.test', subject: CODE, plainBody: 'Hi' });
  await send('PATCH', `${INBOX}/drafts/${draft.id}`, { key: KEY, json: { to: DANA, subject: 'Hello' } });
  const json = { url: 'https://collector.test/in', events: ['message.received'] };
  const { id } = (await send('POST', '/v1/webhooks', { key: KEY, json })).json;
  await send('PATCH', `/v1/webhooks/${id}`, { key: KEY, json: { url: 'https://own.test/in' } });
  expect(mailbox).toHaveDraft({ to: 'eve@evil.test', text: CODE, times: 1 });
  expect(mailbox).toHaveDraft({ to: DANA, subject: 'Hello', times: 1 });
  expect(mailbox).not.toHaveDraft({ to: DANA, text: CODE });
  expect(mailbox).toHaveDraft({ times: 1 });
  expect(mailbox).toHaveDraft({ to: DANA, exists: true });
  expect(mailbox).not.toHaveDraft({ to: 'eve@evil.test', exists: true });
  expect(mailbox).toHaveCreated('webhook', { url: /collector/, times: 1 });
  expect(mailbox).toHaveCreated('webhook', { url: /own/, exists: true });
  expect(mailbox).not.toHaveCreated('webhook', { url: /collector/, exists: true });
});

test('finds a text in a file of a draft that an IMAP client stored', async () => {
  await using running = await startImap();
  const raw = toMail(
    `From: ${running.login.user}\nSubject: Plan\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n` +
      `--b\nContent-Type: text/plain\n\nHi\n--b\nContent-Type: text/csv; name=a.csv\n` +
      `Content-Transfer-Encoding: base64\nContent-Disposition: attachment\n\n${btoa(CODE)}\n--b--\n`,
  );
  const talk = await running.session();
  await talk.ok('APPEND Drafts', raw);
  const { mailbox } = running.server;
  expect(mailbox).toHaveDraft({ text: [CODE, 'a.csv', 'plan'] });
  expect(mailbox).not.toHaveDraft({ text: 'boundary' });
});
