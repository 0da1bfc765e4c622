import { createMailbox } from 'agent-mailbox-mock';
import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { OPERATION_IDS } from '../../src/contract/operations.ts';
import { type PageServer, useBrowser } from '../support/browser.ts';
import { driveEveryOperation, type Step } from './app/drive-every-operation.ts';
import { createRepeatableEnvironment } from './app/repeatable-environment.ts';
import { sendUnusualRequests } from './app/send-unusual-requests.ts';
import { serveFrontEnd } from './serve-front-end.ts';

const openProfile = useBrowser();
let frontEnd: PageServer;

beforeAll(async () => {
  frontEnd = await serveFrontEnd();
  return () => frontEnd[Symbol.asyncDispose]();
});

/** The inbox key may rotate itself here, so that a new one can be seen to be accepted. */
const BEHAVIOURS = { 'inboxes.rotate.tiers': 'tenant-workspace-and-inbox' } as const;

const SEEDED = ['http://127.0.0.1:9999/acme', 'http://127.0.0.1:9999/acme/support'];
const CREATED = 'https://agent.example/hook';

describe('a page whose service is a worker', () => {
  test('drives every operation', async (context) => {
    const page = await openFrontEnd(await openProfile(context));
    const steps = await page.evaluate(async (behaviours) => {
      const mailbox = await app.startMailbox({ behaviours });
      return app.driveEveryOperation(mailbox, fetch);
    }, BEHAVIOURS);

    const failed = steps.filter(({ status }) => status >= 400).map(({ operation, status }) => `${operation} ${status}`);
    expect(failed).toEqual([
      'deleteWebhook 404',
      'getMessage 404',
      'sendDraft 404',
      'getMe 401',
      'rotateInboxKey 401',
      'listWebhooks 401',
      'listWebhooks 401',
    ]);
    const succeeded = steps.filter(({ status }) => status < 400).map(({ operation }) => operation);
    expect(new Set(succeeded)).toEqual(new Set(OPERATION_IDS));
  });

  test('receives exactly the replies that Node receives', async (context) => {
    const page = await openFrontEnd(await openProfile(context));
    const steps = await page.evaluate(async (behaviours) => {
      const mailbox = await app.startMailbox({ behaviours, environment: app.createRepeatableEnvironment() });
      return app.driveEveryOperation(mailbox, fetch);
    }, BEHAVIOURS);

    expect(steps).toEqual(await driveInNode());
  });

  test('receives the same replies if a request has no body stream, as in Firefox', async (context) => {
    const profile = await openProfile(context);
    await profile.addInitScript(() => Reflect.deleteProperty(Request.prototype, 'body'));
    const page = await openFrontEnd(profile);
    const steps = await page.evaluate(async (behaviours) => {
      const mailbox = await app.startMailbox({ behaviours, environment: app.createRepeatableEnvironment() });
      return app.driveEveryOperation(mailbox, fetch);
    }, BEHAVIOURS);

    expect(steps).toEqual(await driveInNode());
  });

  test('receives the replies that Node receives to unusual requests', async (context) => {
    const page = await openFrontEnd(await openProfile(context));
    const answers = await page.evaluate(async () => {
      const mailbox = await app.startMailbox({ environment: app.createRepeatableEnvironment() });
      return app.sendUnusualRequests(mailbox, fetch);
    });

    const mailbox = createMailbox({ environment: createRepeatableEnvironment() });
    const inNode = await sendUnusualRequests(mailbox, (url, init) => mailbox.fetch(new Request(url, init)));
    expect(answers).toEqual(inNode);
  });

  test('can use its own origin as the base URL, and still loads its own files', async (context) => {
    const page = await openFrontEnd(await openProfile(context));
    const { steps, own } = await page.evaluate(async (behaviours) => {
      const environment = app.createRepeatableEnvironment();
      const mailbox = await app.startMailbox({ baseUrl: location.origin, behaviours, environment });
      const steps = await app.driveEveryOperation(mailbox, fetch);
      const own: Record<string, string> = {};
      for (const path of ['/', '/mockServiceWorker.js', '/v1x', '/healthy', '/deeper/v1/webhooks']) {
        const { status, headers } = await fetch(path);
        own[path] = `${status} ${headers.get('content-type')}`;
      }
      return { steps, own };
    }, BEHAVIOURS);

    expect(steps).toEqual(await driveInNode());
    expect(own).toEqual({
      '/': '200 text/html',
      '/mockServiceWorker.js': '200 text/javascript',
      '/v1x': '404 text/html',
      '/healthy': '404 text/html',
      '/deeper/v1/webhooks': '404 text/html',
    });
  });

  test('can have two mailboxes that share nothing', async (context) => {
    const page = await openFrontEnd(await openProfile(context));
    const [one, other] = await page.evaluate(async (created) => {
      const one = app.createMailbox({ baseUrl: 'https://one.mailbox.test' });
      const other = app.createMailbox({ baseUrl: 'https://other.mailbox.test' });
      await app.startWorker(one, other);
      await app.createWebhook(one, created);
      return [await app.listWebhookUrls(one), await app.listWebhookUrls(other)];
    }, CREATED);

    expect(one).toEqual([...SEEDED, CREATED]);
    expect(other).toEqual(SEEDED);
  });

  test('shares no webhook with the same page in another tab', async (context) => {
    const profile = await openProfile(context);
    const writer = await openFrontEnd(profile);
    const reader = await openFrontEnd(profile);
    // One after the other: msw reloads a page whose worker is there already but does not control it yet.
    await reader.evaluate(async () => {
      // What @mswjs/data would have mirrored comes before what is sent last through its channel.
      const channel = new BroadcastChannel('mswjs/data/sync');
      const last = new Promise((resolve) => {
        channel.addEventListener('message', ({ data }) => data.last && resolve(data));
      });
      Object.assign(globalThis, { mailbox: await app.startMailbox(), channel, last });
    });
    const written = await writer.evaluate(async (created) => {
      const mailbox = await app.startMailbox();
      await app.createWebhook(mailbox, created);
      new BroadcastChannel('mswjs/data/sync').postMessage({ last: true, payload: [] });
      return app.listWebhookUrls(mailbox);
    }, CREATED);
    const read = await reader.evaluate(async () => {
      const { mailbox, last } = globalThis as unknown as Record<'mailbox' | 'last', Promise<never>>;
      await last;
      return app.listWebhookUrls(await mailbox);
    });

    expect(written).toEqual([...SEEDED, CREATED]);
    expect(read).toEqual(SEEDED);
  });
});

async function openFrontEnd(profile: BrowserContext): Promise<Page> {
  const page = await profile.newPage();
  await page.goto(`http://127.0.0.1:${frontEnd.port}/`);
  return page;
}

function driveInNode(): Promise<Step[]> {
  const mailbox = createMailbox({ behaviours: BEHAVIOURS, environment: createRepeatableEnvironment() });
  return driveEveryOperation(mailbox, (url, init) => mailbox.fetch(new Request(url, init)));
}
