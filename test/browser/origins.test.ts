import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { type PageServer, servePages, useBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { withoutTimeOfDay } from '../support/log.ts';

const openProfile = useBrowser();
let pages: PageServer;

beforeAll(async () => {
  pages = await servePages({ '/': '<!doctype html><title>A page of another origin</title>' });
  return () => pages[Symbol.asyncDispose]();
});

const WEBHOOK = { url: 'https://agent.example/hook', events: ['message.received'] };

describe('a page in Chromium', () => {
  test.for(['127.0.0.1', 'localhost', 'app.localhost'])(
    'of another port of %s calls the API and reads the reply',
    async (host, context) => {
      await using server = await startServer({ port: 0 });
      const page = await openPage(await openProfile(context), host);

      expect(await call(page, server, 'GET', server.mailbox.keys.acme.tenant)).toEqual({
        status: 200,
        assumed: 'webhooks.list.order',
        webhooks: 2,
      });
      expect(await call(page, server, 'POST', server.mailbox.keys.acme.tenant)).toMatchObject({ status: 201 });
      expect(await call(page, server, 'GET', server.mailbox.keys.acme.tenant)).toMatchObject({ webhooks: 3 });
    },
  );

  test('of another port reads errors and the headers that explain them', async (context) => {
    await using server = await startServer({ port: 0 });
    const page = await openPage(await openProfile(context), '127.0.0.1');
    const seen = await page.evaluate(async (url) => {
      const unauthorized = await fetch(url);
      const wrongMethod = await fetch(url, { method: 'PUT' });
      return [
        [unauthorized.status, (await unauthorized.json()).code, unauthorized.headers.get('WWW-Authenticate')],
        [
          wrongMethod.status,
          (await wrongMethod.json()).code,
          wrongMethod.headers.get('Allow')?.split(', ').sort().join(),
        ],
      ];
    }, `${server.url}/v1/webhooks`);

    expect(seen).toEqual([
      [401, 'UNAUTHORIZED', 'Bearer'],
      [405, 'METHOD_NOT_ALLOWED', 'GET,HEAD,OPTIONS,POST'],
    ]);
  });

  test('of a foreign origin can neither read nor change anything', async (context) => {
    await using server = await startServer({ port: 0 });
    const start = server.mailbox.snapshot();
    const page = await openPage(await openProfile(context), 'evil.test');

    expect(await call(page, server, 'GET', server.mailbox.keys.acme.tenant)).toBe('TypeError: Failed to fetch');
    expect(await call(page, server, 'POST', server.mailbox.keys.acme.tenant)).toBe('TypeError: Failed to fetch');
    expect(server.mailbox.snapshot()).toEqual(start);
  });

  test('of a foreign origin can call the API once that origin is allowed, and other origins still cannot', async (context) => {
    await using server = await startServer({ port: 0, corsOrigins: [`http://front.test:${pages.port}`] });
    const profile = await openProfile(context);
    const key = server.mailbox.keys.acme.tenant;

    expect(await call(await openPage(profile, 'front.test'), server, 'GET', key)).toMatchObject({ status: 200 });
    expect(await call(await openPage(profile, 'evil.test'), server, 'GET', key)).toBe('TypeError: Failed to fetch');
  });

  test('that rebinds its own name to the server is refused on every path', async (context) => {
    await using server = await startServer({ port: 0 });
    const start = server.mailbox.snapshot();
    const page = await (await openProfile(context)).newPage();
    await page.goto(`http://evil.test:${server.port}/`);
    const answers = await page.evaluate(async (key) => {
      const calls = ['GET /', 'GET /health', 'GET /v1/webhooks', 'DELETE /v1/webhooks', 'OPTIONS /v1/webhooks'];
      const control = ['GET /__mock', 'GET /__mock/health', 'POST /__mock/reset', 'GET /__mock/openapi.json'];
      const answer = async (call: string) => {
        const [method = '', path = ''] = call.split(' ');
        const response = await fetch(path, { method, headers: { 'X-API-Key': key } });
        return `${call}: ${response.status} ${(await response.json()).code}`;
      };
      return Promise.all([...calls, ...control].map(answer));
    }, server.mailbox.keys.acme.tenant);

    expect(answers).toHaveLength(9);
    for (const answer of answers) expect(answer).toMatch(/: 403 HOST_NOT_ALLOWED$/);
    expect(server.mailbox.snapshot()).toEqual(start);
  });

  test.for(['127.0.0.1', 'localhost', 'evil.test'])(
    'of another port of %s cannot reset the mailbox',
    async (host, context) => {
      const log: string[] = [];
      await using server = await startServer({ port: 0, log: (line) => log.push(line) });
      const changed = await changeState(server);
      const page = await openPage(await openProfile(context), host);
      const read = await page.evaluate(tryToReset, `${server.control}/reset`);

      const ways = ['beacon', 'fetch', 'form', 'no-cors', 'sandbox'];
      const refused = ways.map((way) => `${way} 403`);
      await eventually(() => expect(readResets(log)).toEqual(refused));
      expect(read).toBe('TypeError: Failed to fetch');
      expect(server.mailbox.snapshot()).toEqual(changed);
    },
  );

  test.for(['127.0.0.1', 'localhost'])(
    'of the server’s own origin at %s may reset the mailbox',
    async (host, context) => {
      await using server = await startServer({ port: 0 });
      const start = server.mailbox.snapshot();
      await changeState(server);
      const page = await (await openProfile(context)).newPage();
      await page.goto(`http://${host}:${server.port}/health`);
      const status = await page.evaluate(async () => (await fetch('/__mock/reset', { method: 'POST' })).status);

      expect(status).toBe(200);
      expect(server.mailbox.snapshot()).toEqual(start);
    },
  );

  test('of a foreign origin cannot reach a control call by an allowed host name', async (context) => {
    const log: string[] = [];
    const allowHosts = ['mailbox.test'];
    await using server = await startServer({ port: 0, allowHosts, verbose: true, log: (line) => log.push(line) });
    const page = await openPage(await openProfile(context), 'evil.test');
    await page.evaluate(async (url) => {
      await fetch(`${url}/health`, { mode: 'no-cors' });
      const image = new Image();
      image.src = `${url}/clock`;
      await image.decode().catch(() => {});
    }, `http://mailbox.test:${server.port}/__mock`);

    const calls = () =>
      log.map((line) => /^\S+ (\d+) GET (\S+)/.exec(withoutTimeOfDay(line))?.slice(1).toReversed().join(' '));
    await eventually(() => expect(calls()).toEqual(['/__mock/health 401', '/__mock/clock 401']));
  });

  test('that is opened by its address shows the control plane', async (context) => {
    await using server = await startServer({ port: 0 });
    const page = await (await openProfile(context)).newPage();
    const response = await page.goto(`${server.control}/health`);

    expect(response?.status()).toBe(200);
    expect(await response?.json()).toMatchObject({ status: 'ok' });
  });
});

async function openPage(profile: BrowserContext, host: string): Promise<Page> {
  const page = await profile.newPage();
  await page.goto(`http://${host}:${pages.port}/`);
  return page;
}

/** Lists or creates webhooks from a page; the answer is what the page could read of it. */
function call(page: Page, { url }: MailboxServer, method: 'GET' | 'POST', key?: string) {
  const headers = { 'Content-Type': 'application/json', ...(key !== undefined && { 'X-API-Key': key }) };
  const init = { method, headers, ...(method === 'POST' && { body: JSON.stringify(WEBHOOK) }) };
  return page.evaluate(
    async ([url, init]) => {
      try {
        const response = await fetch(url, init);
        const { webhooks } = await response.json();
        return { status: response.status, assumed: response.headers.get('X-Mock-Assumed'), webhooks: webhooks?.length };
      } catch (error) {
        return String(error);
      }
    },
    [`${url}/v1/webhooks`, init] as const,
  );
}

/** Creates a webhook as a client outside a page, and returns the state with it. */
async function changeState({ url, mailbox }: MailboxServer) {
  const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
  await fetch(`${url}/v1/webhooks`, { method: 'POST', headers, body: JSON.stringify(WEBHOOK) });
  return mailbox.snapshot();
}

/** Runs in a page: sends a POST in every way that needs no preflight. Returns the result of the only readable one. */
async function tryToReset(url: string): Promise<string> {
  const read = await fetch(`${url}?by=fetch`, { method: 'POST' }).then(({ status }) => `status ${status}`, String);
  await fetch(`${url}?by=no-cors`, { method: 'POST', mode: 'no-cors' });
  navigator.sendBeacon(`${url}?by=beacon`);

  const sandbox = document.createElement('iframe');
  sandbox.sandbox.add('allow-scripts');
  sandbox.srcdoc = `<script>fetch('${url}?by=sandbox', { method: 'POST', mode: 'no-cors' })</script>`;

  const target = document.createElement('iframe');
  target.name = 'target';
  const form = document.createElement('form');
  Object.assign(form, { action: `${url}?by=form`, method: 'POST', target: target.name });

  document.body.append(sandbox, target, form);
  form.submit();
  return read;
}

/** The ways that reached the server, each with the status it was answered. */
function readResets(log: readonly string[]): string[] {
  const resets = log.map((line) =>
    /^\S+ (\d+) POST \/__mock\/reset\?by=(\S+)/.exec(withoutTimeOfDay(line))?.slice(1).toReversed().join(' '),
  );
  return resets.filter((reset) => reset !== undefined).sort();
}
