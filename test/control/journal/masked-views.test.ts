import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHar } from '../../../src/control/journal/har.ts';
import { ENCODINGS, readingsOf } from '../../support/encodings.ts';
import { IDS } from '../../support/ids.ts';

const HELPDESK = IDS.acme.inboxes.helpdesk;

/** The password in the URL of a webhook of the mailbox. */
const URL_PASSWORD = 'p@ss/word of a hook';

/** A mailbox in which secrets were replaced and removed, and every secret that it knows or has known. */
async function createWithSecrets(answer: () => Response): Promise<{ mailbox: Mailbox; secrets: string[] }> {
  const mailbox = createMailbox({ environment: { fetch: async () => answer() } });
  const tenant = mailbox.client(mailbox.keys.acme.tenant);
  const secretsNow = () =>
    mailbox
      .snapshot()
      .tenants.flatMap(({ apiKeys, webhooks, inboxes }) => [
        ...apiKeys.map(({ key }) => key),
        ...webhooks.map(({ secret }) => secret),
        ...inboxes.map(({ imapPassword }) => imapPassword),
      ]);
  const before = secretsNow();
  await tenant.rotateInboxKey(HELPDESK);
  await tenant.deleteWebhook(IDS.acme.webhooks.support);
  const workspaceId = IDS.acme.workspaces.support;
  const inbox = await tenant.createInbox({ username: 'soon-gone', workspaceId });
  const whileThere = secretsNow();
  await tenant.deleteInbox(inbox.id);
  const url = `http://dana:${encodeURIComponent(URL_PASSWORD)}@127.0.0.1:9/in?token=of-a-query`;
  await tenant.createWebhook({ url, events: ['message.received'] });
  const sandbox = mailbox.createSandbox();
  const ofSandbox = [sandbox.keys.tenant, sandbox.logins.helpdesk.password];
  sandbox.close();
  const secrets = [
    mailbox.keys.operator,
    URL_PASSWORD,
    'of-a-query',
    ...ofSandbox,
    ...before,
    ...whileThere,
    ...secretsNow(),
  ];
  return { mailbox, secrets: [...new Set(secrets)] };
}

/** What a client or a stranger sends, with a secret in it. */
type Send = (mailbox: Mailbox, text: string) => Promise<unknown>;

const request = (mailbox: Mailbox, path: string, init: RequestInit = {}) =>
  mailbox.fetch(
    new Request(mailbox.baseUrl + path, {
      ...init,
      headers: { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json', ...init.headers },
    }),
  );

const post = (mailbox: Mailbox, path: string, json: unknown) =>
  request(mailbox, path, { method: 'POST', body: JSON.stringify(json) });

/** A text as a header can have it: on one line, and in Latin-1. */
const inHeader = (text: string) => text.replace(/[^\x20-\x7e]/g, '').trim();

const receive = (mailbox: Mailbox, fields: object) =>
  mailbox.receiveMessage({ from: 'dana@customer.test', to: 'helpdesk@acme.test', ...fields } as never);

const eml = (body: string) =>
  `From: dana@customer.test\r\nTo: helpdesk@acme.test\r\nSubject: Raw\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n${body}\r\n--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(`<p>${body}</p>`).toString('base64')}\r\n--b--\r\n`;

const PLACES: Readonly<Record<string, Send>> = {
  'the path': (mailbox, text) => request(mailbox, `/v1/inboxes/${encodeURIComponent(text)}`),
  'the value of a query': (mailbox, text) => request(mailbox, `/v1/webhooks?q=${encodeURIComponent(text)}`),
  'the name of a query': (mailbox, text) => request(mailbox, `/v1/webhooks?${encodeURIComponent(text)}=1`),
  'a header': (mailbox, text) => request(mailbox, '/v1/me', { headers: { 'X-Trace': inHeader(text) } }),
  'the login of a URL': (mailbox, text) =>
    post(mailbox, '/v1/webhooks', {
      url: `http://u:${encodeURIComponent(text)}@127.0.0.1:9/`,
      events: ['message.received'],
    }),
  'the query of a URL': (mailbox, text) =>
    post(mailbox, '/v1/webhooks', {
      url: `http://127.0.0.1:9/?q=${encodeURIComponent(text)}`,
      events: ['message.received'],
    }),
  'a value of JSON': (mailbox, text) => post(mailbox, '/v1/webhooks', { a: [{ b: { c: text } }] }),
  'a key of JSON': (mailbox, text) => post(mailbox, '/v1/webhooks', { a: { [`${text}`]: 1 } }),
  'a text that is no JSON': (mailbox, text) =>
    request(mailbox, '/v1/webhooks', { method: 'POST', body: `a ${text} b` }),
  metadata: (mailbox, text) =>
    request(mailbox, `/v1/inboxes/${HELPDESK}`, {
      method: 'PATCH',
      body: JSON.stringify({ metadata: { note: text } }),
    }),
  'a draft': (mailbox, text) =>
    post(mailbox, `/v1/inboxes/${HELPDESK}/drafts`, {
      to: ['dana@customer.test'],
      subject: 'Draft',
      plainBody: `My login: ${text}`,
    }),
  'a mail that is sent': (mailbox, text) =>
    post(mailbox, `/v1/inboxes/${HELPDESK}/send`, {
      to: 'dana@customer.test',
      subject: 'Sent',
      plainBody: text,
      htmlBody: `<p>${text}</p>`,
    }),
  'the text of a mail': (mailbox, text) => receive(mailbox, { subject: 'Text', plainBody: `Here: ${text}` }),
  'the HTML of a mail': (mailbox, text) =>
    receive(mailbox, { subject: 'HTML', htmlBody: `<a href="/${text}">${text}</a>` }),
  'the subject of a mail': (mailbox, text) => receive(mailbox, { subject: inHeader(text) }),
  'a header of a mail': (mailbox, text) => receive(mailbox, { headers: { 'X-Note': inHeader(text) } }),
  'a file': (mailbox, text) => receive(mailbox, { attachments: [{ filename: 'a.txt', text: `one ${text} two` }] }),
  'a file of base64': (mailbox, text) =>
    receive(mailbox, { attachments: [{ filename: 'a.bin', text: Buffer.from(`\0${text}\0`).toString('base64') }] }),
  'a raw mail': (mailbox, text) => mailbox.receiveMessage({ eml: eml(text) }),
};

/** Everything that shows others what was sent: requests, HAR, the journal without mail, feed, trace, stories, deliveries. */
async function readViews(mailbox: Mailbox): Promise<Record<string, string>> {
  const requests = mailbox.requests();
  const events: object[] = [];
  for await (const event of mailbox.feed({ lastEventId: '0', follow: false })) events.push(event);
  const journal = mailbox.journal().filter(({ kind }) => !kind.startsWith('mail-') || kind === 'mail-command');
  const mails = mailbox.journal({ kinds: ['mail-received', 'mail-sent'] });
  const responses = mailbox.deliveries().flatMap(({ attempts, reason }) => [
    reason,
    ...attempts.map(({ url, error, responseHeaders, responseBody }) => ({
      url,
      error,
      responseHeaders,
      responseBody,
    })),
  ]);
  const views = {
    requests,
    har: createHar(requests, mailbox.baseUrl),
    journal,
    feed: events,
    stories: mails.map(({ data }) => mailbox.explain(data.mail.id)),
    deliveries: responses,
  };
  const shown = Object.entries(views).map(([name, value]) => [name, JSON.stringify(value)]);
  return { ...Object.fromEntries(shown), trace: mailbox.trace({ bytes: true }) };
}

test('no view of what others sent shows a secret in any encoding', async () => {
  const sent = fc.record({
    place: fc.constantFrom(...Object.keys(PLACES)),
    encodings: fc.array(fc.constantFrom(...Object.keys(ENCODINGS)), { minLength: 1, maxLength: 1 }),
    secret: fc.nat(),
  });
  const check = async (
    list: readonly { place: string; encodings: string[]; secret: number }[],
    answer: { encodings: string[]; secret: number },
  ) => {
    let answered = '';
    const { mailbox, secrets } = await createWithSecrets(
      () =>
        new Response(answered, {
          status: 500,
          headers: { 'X-Note': inHeader(answered), 'Set-Cookie': 'a=session-of-a-receiver' },
        }),
    );
    const encode = (encodings: string[], index: number) =>
      encodings.reduce((text, name) => ENCODINGS[name]?.(text) ?? '', secrets[index % secrets.length] ?? '');
    answered = encode(answer.encodings, answer.secret);
    for (const { place, encodings, secret } of list) await PLACES[place]?.(mailbox, encode(encodings, secret));
    await mailbox.settled().catch(() => {});
    for (const [view, text] of Object.entries(await readViews(mailbox))) {
      const readings = readingsOf(text, 2);
      const found = [...secrets, 'session-of-a-receiver'].filter((secret) =>
        readings.some((each) => each.includes(secret)),
      );
      expect({ view, found }).toEqual({ view, found: [] });
    }
  };
  const answer = fc.record({ encodings: sent.map(({ encodings }) => encodings), secret: fc.nat() });
  await fc.assert(fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 8 }), answer, check), { numRuns: 10 });
});

test('ordinary mail is shown as it was, whatever words it has', async () => {
  const mailbox = createMailbox();
  const plainBody =
    'The token for the cloakroom is at the desk. Your password: please choose a new one at https://customer.test/@dana.\n' +
    'break_even_calculation, mailto:dana@customer.test, 50% off, C:\\new\\tools, a bearer of news; which cookie?';
  await mailbox.receiveMessage({
    from: 'dana@customer.test',
    to: 'helpdesk@acme.test',
    subject: 'A token secret',
    plainBody,
  });
  const lines = mailbox
    .trace({ bytes: true })
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const [entry] = lines.filter(({ kind }) => kind === 'mail-received');
  expect(entry.data.mail).toMatchObject({ subject: 'A token secret', plainBody });
});

test('what is shown of a delivery has no secrets, but what was sent stays as it was', async () => {
  const headers = { 'Set-Cookie': 'sid=1234', 'X-Auth': 'abc', 'X-Plain': 'yes' };
  const mailbox = createMailbox({
    environment: { fetch: async () => new Response('{"token":"abc"}', { status: 500, headers }) },
  });
  const url = 'http://dana:pass-word@127.0.0.1:9/in?token=abc&a=b';
  await mailbox.addWebhook({ url, events: ['message.received'], workspaceOf: 'helpdesk@acme.test' });
  await receive(mailbox, { plainBody: 'My key is tk_acme_tenant_key' });
  await expect.poll(() => mailbox.deliveries().flatMap(({ attempts }) => attempts).length).toBeGreaterThan(0);
  const attempt = mailbox
    .deliveries()
    .flatMap(({ attempts }) => attempts)
    .find((each) => each.url.includes('127.0.0.1:9/in'));
  expect(attempt).toMatchObject({
    url: 'http://…@127.0.0.1:9/in?token=…&a=b',
    responseHeaders: { 'set-cookie': '(hidden)', 'x-auth': '(hidden)', 'x-plain': 'yes' },
    responseBody: '{"token":"…"}',
  });
  expect(attempt?.requestBody).toContain('My key is tk_acme_tenant_key');
});

test('a report of a user can have its secrets masked', () => {
  const mailbox = createMailbox();
  const [password = ''] = mailbox
    .snapshot()
    .tenants.flatMap(({ inboxes }) => inboxes.map(({ imapPassword }) => imapPassword));
  expect(mailbox.mask(`Logged in with ${password}, called as ${mailbox.keys.acme.tenant}.`)).toBe(
    'Logged in with …, called as tk_acme_….',
  );
});
