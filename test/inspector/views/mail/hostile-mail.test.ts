import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { MailboxServer } from '../../../../src/server/start-server.ts';
import { startBuiltServer, useInspector } from '../../open-inspector.ts';
import { createAttacks } from './attack-strings.ts';

const open = useInspector();

/** How many messages are opened by one page; more take longer than a test may. */
const PER_MAIL = 12;

/** A server of the attacker, at `evil.test`, which a page reaches if anything lets it. */
async function startAttacker(page = '') {
  const requests: string[] = [];
  const connections: string[] = [];
  const server = createServer(({ method, url }, response) => {
    requests.push(`attacker: ${method} ${url}`);
    response.setHeader('Content-Type', 'text/html').end(page);
  });
  server.on('connection', ({ remotePort }) => connections.push(`connection ${remotePort}`));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    requests,
    /** A connection without a request is noticed by an attacker, too. */
    connections,
    origin: `http://evil.test:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Observes everything that a mail must not do, besides to reach the attacker. */
function watch(page: Page, { url }: MailboxServer): string[] {
  const seen: string[] = [];
  page.on('dialog', (dialog) => {
    seen.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', (popup) => seen.push(`popup ${popup.url()}`));
  page.on('download', (download) => seen.push(`download ${download.suggestedFilename()}`));
  page.on('pageerror', (error) => seen.push(`error ${error.message}`));
  page.on('request', (request) => {
    if (request.url().startsWith(url) && request.method() !== 'GET') seen.push(`${request.method()} ${request.url()}`);
  });
  return seen;
}

/** Delivers mail with attacks in every place that a sender can write. */
async function deliverAttacks(server: MailboxServer, origin: string): Promise<string[]> {
  const ids: string[] = [];
  const all = createAttacks(origin);
  for (let start = 0; start < all.length; start += PER_MAIL) {
    const attacks = all.slice(start, start + PER_MAIL);
    const [first = ''] = attacks;
    const text = toLine(first);
    const [message] = await server.mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      from: `"${text.replace(/["\\]/g, '').slice(0, 200)}" <dana@customer.test>`,
      subject: text.slice(0, 900),
      plainBody: attacks.join('\n'),
      htmlBody: attacks.join('\n'),
      headers: { 'X-Attack': text.slice(0, 900) },
      attachments: attacks.map((attack) => ({
        filename: toLine(attack).slice(0, 250) || 'x',
        contentType: 'text/html',
        text: attack,
      })),
    });
    ids.push(String(message?.id));
  }
  return ids;
}

function toLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').replace(/[\u2028\u2029]/g, ' ');
}

test('there are at least 200 attacks', () => {
  expect(new Set(createAttacks('http://evil.test:1')).size).toBeGreaterThanOrEqual(200);
});

test('a mail of attacks runs nothing, loads nothing and changes nothing', async (context) => {
  const { page, server } = await open(context);
  await using attacker = await startAttacker();
  const ids = await deliverAttacks(server, attacker.origin);
  const before = server.mailbox.export();
  const elements = await page.locator('body > *').count();
  const seen = watch(page, server);
  for (const id of ids) {
    for (const tab of ['html', 'text', 'headers', 'source', 'files', 'json']) {
      await page.goto(`${server.control}/#/mail/${id}?tab=${tab}`);
      await page.locator(`.tabs [aria-current]`).waitFor();
    }
  }
  context.expect([...seen, ...attacker.connections]).toEqual([]);
  const { subject } = server.mailbox.mail(String(ids.at(-1)));
  context.expect(await page.title()).toBe(`${subject.trim().replace(/\s+/g, ' ')} · Mail · Inspector`);
  context.expect(await page.locator('body > *').count()).toBe(elements);
  context.expect(server.mailbox.export()).toEqual(before);
});

test('an image that a mail contains runs nothing and loads nothing', async (context) => {
  const { page, server } = await open(context);
  await using attacker = await startAttacker();
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="fetch('${attacker.origin}')">
    <image href="${attacker.origin}/a"/><script>fetch('${attacker.origin}')</script></svg>`;
  const holders = ['<img src=', '<iframe src=', '<object data=', '<embed src=', '<a href=', '<link rel=icon href='];
  const html = `${holders.map((start) => `${start}"cid:x">x</a>`).join('\n')}<p style="background:url(cid:x)">y</p>`;
  const [message] = await server.mailbox.receiveMessage({
    eml: [
      'From: eve@outside.test\r\nTo: helpdesk@acme.test\r\nContent-Type: multipart/related; boundary=b\r\n\r\n',
      `--b\r\nContent-Type: text/html\r\n\r\n${html}\r\n--b\r\nContent-Type: image/svg+xml\r\n`,
      `Content-ID: <x>\r\nContent-Transfer-Encoding: base64\r\n\r\n${btoa(svg)}\r\n--b--\r\n`,
    ].join(''),
  });
  const seen = watch(page, server);
  await page.goto(`${server.control}/messages/${message?.id}.html`);
  context.expect(await page.locator('img').getAttribute('src')).toMatch(/^data:image\/svg\+xml;base64,/);
  await page.goto(`${server.control}/#/mail/${message?.id}`);
  await page.frameLocator('iframe.mail-html').getByText('x', { exact: true }).first().click();
  context.expect([...seen, ...attacker.connections]).toEqual([]);
});

test('the page of a mail alone runs nothing and loads nothing', async (context) => {
  const { page, server } = await open(context);
  await using attacker = await startAttacker();
  const ids = await deliverAttacks(server, attacker.origin);
  const seen = watch(page, server);
  for (const id of ids) await page.goto(`${server.control}/messages/${id}.html`);
  context.expect([...seen, ...attacker.connections]).toEqual([]);
});

test('clicks in a mail lead nowhere', async (context) => {
  await using attacker = await startAttacker();
  const { page, server } = await open(context);
  const [message] = await server.mailbox.receiveMessage({
    to: 'helpdesk@acme.test',
    from: 'eve@outside.test',
    htmlBody: `<a href="${attacker.origin}/" target=_top>top</a> <a href="${attacker.origin}/" target=_blank>blank</a>
      <a href="/__mock/export">same</a> <a href="javascript:alert(1)">script</a>
      <a href="${attacker.origin}/">plain</a> <form action="${attacker.origin}/" method=post><button>send</button></form>`,
  });
  const seen = watch(page, server);
  const url = `${server.control}/#/mail/${message?.id}`;
  for (const name of ['top', 'blank', 'plain', 'same', 'script', 'send']) {
    await page.goto(url);
    await page.reload();
    await page.frameLocator('iframe.mail-html').getByText(name, { exact: true }).click();
  }
  context.expect([...seen, ...attacker.requests]).toEqual([]);
  context.expect(page.url()).toBe(url);
});

/** The page of an attacker, which leads the tab that opened it to another place, and then says so in its title. */
const STEERING_PAGE = `<script>if (window.opener) window.opener.location = '/steered';
  document.title = window.opener ? 'steers' : 'is alone';</script>`;

/** Links that open another page, which could get a hold on the tab of the mail. */
const OPENERS = [
  '<a href="URL" target=_blank rel=opener>Click</a>',
  '<a href="URL" target=other>Click</a>',
  '<a href="URL" target=_blank rel="&#111;pener">Click</a>',
  '<base target=other><a href="URL" rel=opener>Click</a>',
  '<svg><a href="URL" target=_blank rel=opener><text y=20>Click</text></a></svg>',
];

test('a page that a mail in a tab of its own opens cannot steer that tab', async (context) => {
  const { page, server } = await open(context);
  await using attacker = await startAttacker(STEERING_PAGE);
  for (const html of OPENERS) {
    const [message] = await server.mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      from: 'eve@outside.test',
      htmlBody: html.replace('URL', `${attacker.origin}/`),
    });
    const url = `${server.control}/messages/${message?.id}.html`;
    await page.goto(url);
    const [opened] = await Promise.all([page.waitForEvent('popup'), page.getByText('Click').click()]);
    await context.expect.poll(() => opened.title()).toBe('is alone');
    context.expect(page.url()).toBe(url);
    await opened.close();
  }
  context.expect(attacker.requests.filter((request) => request.includes('steered'))).toEqual([]);
});

const HOSTILE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': expect.stringMatching(/^default-src 'none'; .*\bsandbox\b/),
};

test('every reply with the bytes of a mail has headers against what it may contain', async (context) => {
  await using server = await startBuiltServer();
  const { keys } = server.mailbox;
  const [message] = await server.mailbox.receiveMessage({
    to: 'helpdesk@acme.test',
    from: 'eve@outside.test',
    htmlBody: '<script>alert(1)</script>',
    attachments: [{ filename: 'x.html', contentType: 'text/html', text: '<script>alert(1)</script>' }],
  });
  const { id = '', inboxId } = message ?? {};
  const [file] = server.mailbox.mail(id).files;
  const api = `${server.url}/v1/inboxes/${inboxId}/messages/${id}`;
  const mail = `${server.control}/messages/${id}`;
  const urls = [`${mail}.html`, `${mail}/source`, `${mail}/files/${file?.id}`];
  for (const url of [...urls, `${api}/raw`, `${api}/attachments/${file?.id}`]) {
    const response = await fetch(url, { headers: { 'X-API-Key': keys.acme.tenant } });
    context.expect([url, response.status]).toEqual([url, 200]);
    context.expect(Object.fromEntries(response.headers)).toMatchObject(HOSTILE_HEADERS);
  }
});

test('a mail that names what the page reads of its frame is shown all the same', async (context) => {
  const { page, server } = await open(context);
  const names = ['documentElement', 'querySelector', 'scrollHeight', 'body', 'defaultView', 'contentDocument'];
  const [message] = await server.mailbox.receiveMessage({
    to: 'helpdesk@acme.test',
    from: 'eve@outside.test',
    htmlBody: `${names.map((name) => `<form name=${name}><input name=scrollHeight></form><img name=${name}>`).join('')}
      <div style="height:9999999px"></div>`,
  });
  const seen = watch(page, server);
  await page.goto(`${server.control}/#/mail/${message?.id}`);
  const heightOf = () => page.locator('iframe.mail-html').evaluate((frame) => frame.clientHeight);
  await context.expect.poll(heightOf).toBeGreaterThan(10_000);
  context.expect(await heightOf()).toBeLessThan(21_000);
  context.expect(seen).toEqual([]);
});

test('a file of a mail is saved, and never shown as a page', async (context) => {
  await using server = await startBuiltServer();
  const [message] = await server.mailbox.receiveMessage({
    to: 'helpdesk@acme.test',
    from: 'eve@outside.test',
    attachments: [{ filename: 'x.html', contentType: 'text/html', text: '<script>alert(1)</script>' }],
  });
  const [file] = server.mailbox.mail(String(message?.id)).files;
  const response = await fetch(`${server.control}/messages/${message?.id}/files/${file?.id}`);
  context.expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment; filename="x.html"',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  });
});
