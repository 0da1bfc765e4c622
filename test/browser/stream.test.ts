import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { type PageServer, servePages, useBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { IDS } from '../support/ids.ts';
import { withoutTimeOfDay } from '../support/log.ts';
import { type Frame, openSocket } from '../support/stream-client.ts';
import { createRepeatableEnvironment } from './app/repeatable-environment.ts';
import { serveFrontEnd } from './serve-front-end.ts';

const openProfile = useBrowser();
let frontEnd: PageServer;
let pages: PageServer;

beforeAll(async () => {
  frontEnd = await serveFrontEnd();
  pages = await servePages({ '/': '<!doctype html><title>A page of another origin</title>' });
  return async () => {
    await frontEnd[Symbol.asyncDispose]();
    await pages[Symbol.asyncDispose]();
  };
});

const KEYS = createMailbox().keys;
const { helpdesk, billing } = IDS.acme.inboxes;
const ALL_KINDS = ['message.received', 'message.sent', 'message.bounced'];

/** The client of a stream in a page, as `addClient` puts it there. */
interface PageClient {
  /** Opens a stream; resolves once it is open, or with the code and the reason with which it was closed. */
  open(url: string): Promise<string>;
  send(data: unknown): void;
  /** The next frame. */
  next(): Promise<Frame>;
  closed(): Promise<{ code: number; reason: string }>;
}

declare global {
  var client: PageClient;
}

/** Runs in a page. */
function addClient(): void {
  const frames: Frame[] = [];
  const changes = new EventTarget();
  let socket: WebSocket | undefined;
  let end: { code: number; reason: string } | undefined;

  async function wait<Found>(find: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await new Promise((resolve) => changes.addEventListener('change', resolve, { once: true }));
    }
  }

  globalThis.client = {
    open(url) {
      socket = new WebSocket(url);
      const note = () => changes.dispatchEvent(new Event('change'));
      socket.onopen = note;
      socket.onmessage = ({ data }) => frames.push(JSON.parse(data)) && note();
      socket.onclose = ({ code, reason }) => {
        end = { code, reason };
        note();
      };
      return wait(() => (end && `closed ${end.code}`) ?? (socket?.readyState === WebSocket.OPEN ? 'open' : undefined));
    },
    send: (data) => socket?.send(typeof data === 'string' ? data : JSON.stringify(data)),
    next: () => wait(() => frames.shift()),
    closed: () => wait(() => end),
  };
}

async function openPage(profile: BrowserContext, url: string): Promise<Page> {
  const page = await profile.newPage();
  await page.addInitScript(addClient);
  await page.goto(url);
  return page;
}

const begin = (page: Page, url: string) => page.evaluate((url) => client.open(url), url.replace(/^http/, 'ws'));
const next = (page: Page) => page.evaluate(() => client.next());
const tell = (page: Page, data: unknown) => page.evaluate((data) => client.send(data), data);

describe('a page in Chromium', () => {
  test.for(['127.0.0.1', 'localhost', 'app.localhost'])(
    'of another port of %s listens to events with its own WebSocket',
    async (host, context) => {
      await using server = await startServer({ port: 0 });
      const page = await openPage(await openProfile(context), `http://${host}:${pages.port}/`);
      expect(await begin(page, `${server.url}/v1/ws?api_key=${KEYS.acme.tenant}`)).toBe('open');
      expect(await next(page)).toEqual({ type: 'connected', inboxId: null, email: null });
      await tell(page, { type: 'subscribe', inbox_ids: [billing] });
      expect(await next(page)).toEqual({
        type: 'subscribed',
        event_types: ALL_KINDS,
        inbox_ids: [billing],
        workspace_ids: [],
      });
      server.mailbox.trigger('message.received', { inboxId: helpdesk });
      server.mailbox.trigger('message.received', { inboxId: billing, subject: 'Grüße ✉' });
      expect(await next(page)).toMatchObject({ type: 'event', message: { inbox_id: billing, subject: 'Grüße ✉' } });

      await fetch(`${server.control}/clock`, { method: 'POST', body: JSON.stringify({ advance: '31s' }) });
      expect(await next(page)).toEqual({ type: 'ping' });
      await tell(page, { type: 'pong' });
      await tell(page, 'nonsense');
      expect(await next(page)).toMatchObject({ type: 'error' });
      await fetch(`${server.control}/reset`, { method: 'POST' });
      expect(await page.evaluate(() => client.closed())).toMatchObject({ code: 4401 });
    },
  );

  test('of a foreign origin opens no stream, until that origin is allowed', async (context) => {
    const profile = await openProfile(context);
    const [evil, front] = [`http://evil.test:${pages.port}`, `http://front.test:${pages.port}`];
    await using server = await startServer({ port: 0, corsOrigins: [front] });
    const url = `${server.url}/v1/ws?api_key=${KEYS.acme.tenant}`;
    expect(await begin(await openPage(profile, evil), url)).toBe('closed 1006');
    expect(await begin(await openPage(profile, front), url)).toBe('open');
  });

  test('that rebinds its own name to the server opens no stream', async (context) => {
    await using server = await startServer({ port: 0, corsOrigins: ['*'] });
    const page = await openPage(await openProfile(context), `http://evil.test:${server.port}/`);
    expect(await begin(page, `http://evil.test:${server.port}/v1/ws?api_key=${KEYS.acme.tenant}`)).toBe('closed 1006');
  });

  test('that is closed ends its stream', async (context) => {
    const log: string[] = [];
    await using server = await startServer({ port: 0, log: (line) => log.push(line) });
    const page = await openPage(await openProfile(context), `http://localhost:${pages.port}/`);
    await begin(page, `${server.url}/v1/ws?api_key=${KEYS.acme.tenant}`);
    await page.close();
    const lines = [
      'stream opened with the tenant key tk_acme_…',
      'stream closed; it was opened with the tenant key tk_acme_…',
      expect.stringMatching(/^stream 101 GET \/v1\/ws\S+ /),
    ];
    await eventually(() => expect(log.map(withoutTimeOfDay)).toEqual(lines));
  });
});

/** What a client sends, and what happens, between the frames that it is sent. */
const KINDS = ['message.received', 'message.sent', 'message.bounced'] as const;
const SENT = [
  { type: 'subscribe' },
  'nonsense',
  { type: 'subscribe', inbox_ids: [IDS.globex.inboxes.info] },
  { type: 'subscribe', workspace_ids: ['x'] },
  { type: 'pong' },
  { type: 'subscribe', pod_ids: [IDS.acme.workspaces.support], event_types: ['message.received', 'message.sent'] },
];

describe('a page whose service is a worker', () => {
  test('receives exactly the frames that a client over HTTP receives', async (context) => {
    const page = await openPage(await openProfile(context), `http://127.0.0.1:${frontEnd.port}/`);
    const inPage = await page.evaluate(
      async ({ sent, kinds, helpdesk, key }) => {
        const mailbox = await app.startMailbox({ environment: app.createRepeatableEnvironment() });
        mailbox.clock.freeze('2026-03-01T12:00:00Z');
        await client.open(`${mailbox.baseUrl.replace(/^http/, 'ws')}/v1/inboxes/${helpdesk}/ws?api_key=${key}`);
        for (const frame of sent) client.send(frame);
        const frames: Frame[] = [];
        for (let left = 7; left > 0; left -= 1) frames.push(await client.next());
        for (const kind of kinds) mailbox.trigger(kind, { inboxId: helpdesk });
        await mailbox.clock.advance('1m');
        mailbox.reset();
        for (let left = 4; left > 0; left -= 1) frames.push(await client.next());
        return { frames, closed: await client.closed() };
      },
      { sent: SENT, kinds: KINDS, helpdesk, key: KEYS.acme.tenant },
    );

    await using server = await startServer({ port: 0, environment: createRepeatableEnvironment() });
    const { mailbox, url } = server;
    mailbox.clock.freeze('2026-03-01T12:00:00Z');
    await using overHttp = await openSocket(`${url}/v1/inboxes/${helpdesk}/ws`, { 'X-API-Key': KEYS.acme.tenant });
    for (const frame of SENT) overHttp.send(frame);
    for (let left = 7; left > 0; left -= 1) await overHttp.next();
    for (const kind of KINDS) mailbox.trigger(kind, { inboxId: helpdesk });
    await mailbox.clock.advance('1m');
    mailbox.reset();
    expect(inPage).toEqual({ closed: await overHttp.closed, frames: overHttp.frames });
    expect(inPage.frames.map(({ type }) => type)).toEqual([
      ...['connected', 'subscribed', 'subscribed', 'error', 'error', 'error', 'subscribed'],
      ...['event', 'event', 'ping', 'ping'],
    ]);
  });

  test('receives a refusal as the close code of its stream', async (context) => {
    const page = await openPage(await openProfile(context), `http://127.0.0.1:${frontEnd.port}/`);
    const base = await page.evaluate(async () => (await app.startMailbox()).baseUrl);
    expect(await begin(page, `${base}/v1/ws`)).toBe('closed 4401');
    const other = await openPage(page.context(), `http://127.0.0.1:${frontEnd.port}/`);
    await other.evaluate(() => app.startMailbox());
    expect(await begin(other, `${base}/v1/ws?api_key=${KEYS.operator}`)).toBe('closed 4403');
  });

  test('can use its own origin as the base URL', async (context) => {
    const page = await openPage(await openProfile(context), `http://127.0.0.1:${frontEnd.port}/`);
    await page.evaluate(() => app.startMailbox({ baseUrl: location.origin }));
    const own = `http://127.0.0.1:${frontEnd.port}`;
    expect(await begin(page, `${own}/v1/ws?api_key=${KEYS.acme.inboxes.billing}`)).toBe('open');
    expect(await next(page)).toMatchObject({ type: 'connected', inboxId: billing });
  });

  test('still reaches sockets elsewhere', async (context) => {
    await using server = await startServer({ port: 0 });
    const page = await openPage(await openProfile(context), `http://127.0.0.1:${frontEnd.port}/`);
    await page.evaluate(() => app.startMailbox());
    expect(await begin(page, `${server.url}/v1/ws?api_key=${KEYS.acme.inboxes.helpdesk}`)).toBe('open');
    expect(await next(page)).toMatchObject({ type: 'connected', inboxId: helpdesk });
    server.mailbox.reset();
    expect(await page.evaluate(() => client.closed())).toMatchObject({ code: 4401 });
  });
});
