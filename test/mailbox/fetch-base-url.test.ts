import { createMailbox } from 'agent-mailbox-mock';
import { bypass, getResponse, type HttpHandler, HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, beforeAll, describe, test } from 'vitest';

const interceptor = setupServer();
beforeAll(() => interceptor.listen({ onUnhandledRequest: 'bypass' }));
afterAll(() => interceptor.close());

const PREFIXED = 'https://prefixed.test/mailbox/api/';

describe('base URL', () => {
  test('a path in the base URL is a prefix of every path of the service', async ({ expect }) => {
    const mailbox = createMailbox({ baseUrl: PREFIXED });
    interceptor.use(...mailbox.handlers);
    expect(mailbox.baseUrl).toBe('https://prefixed.test/mailbox/api');
    const headers = { 'X-API-Key': mailbox.keys.globex.tenant };
    const reply = await fetch(`${mailbox.baseUrl}/v1/webhooks?page=1#top`, { headers });
    expect(reply.status).toBe(200);
    expect((await reply.json()).webhooks).toHaveLength(1);
  });

  test('fetch takes a request below the base URL, and one for any other host', async ({ expect }) => {
    const mailbox = createMailbox({ baseUrl: PREFIXED });
    const status = async (url: string) => (await mailbox.fetch(new Request(url))).status;
    expect(await status(`${mailbox.baseUrl}/health`)).toBe(200);
    expect(await status('http://localhost:3000/health')).toBe(200);
    expect(await status('https://prefixed.test/mailbox/api-docs/health')).toBe(404);
  });

  test('a path without the version is told where the version belongs', async ({ expect }) => {
    const mailbox = createMailbox();
    const errorOf = async (path: string) => (await (await mailbox.fetch(mailbox.baseUrl + path)).json()).error;
    expect(await errorOf('/inboxes?limit=1')).toBe(
      'There is no route /inboxes; paths of the service begin with /v1, as in /v1/inboxes.',
    );
    expect(await errorOf('/nothing')).toBe('There is no route /nothing.');
    expect(await errorOf('/')).toBe('There is no route /.');
  });

  test('fetch takes a URL below the base URL, as a text or as a URL, and refuses one that is not absolute', async ({
    expect,
  }) => {
    const mailbox = createMailbox({ baseUrl: PREFIXED });
    const headers = { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk };
    const url = `${mailbox.baseUrl}/v1/me`;
    for (const input of [url, new URL(url), url.replace('prefixed', 'PREFIXED'), new Request(url)]) {
      expect(await (await mailbox.fetch(input, { headers })).json()).toMatchObject({ tier: 'inbox' });
    }
    const inbox = `${mailbox.baseUrl}/v1/inboxes/${mailbox.ids.acme.inboxes.helpdesk}`;
    const body = JSON.stringify({ to: 'dana@customer.test', subject: 'Order 7', plainBody: 'Sent.', verified: true });
    const init = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body };
    expect((await mailbox.fetch(`${inbox}/send`, init)).status).toBe(200);
    await expect(mailbox.fetch('/v1/me', { headers })).rejects.toThrow(
      new TypeError(`A mailbox takes absolute URLs, as under its baseUrl ${mailbox.baseUrl}, not "/v1/me".`),
    );
  });

  test.for([
    'https://prefixed.test/v1/webhooks',
    'https://prefixed.test/mailbox/api-docs',
    'https://prefixed.test/mailbox/apiv1/webhooks',
    'https://prefixed.test.example/mailbox/api/v1/webhooks',
    'http://prefixed.test/mailbox/api/v1/webhooks',
    'https://prefixed.test/mailbox/api/v10/webhooks',
    'https://prefixed.test/mailbox/api/index.html',
  ])('%s is left alone', async (url, { expect }) => {
    const { handlers } = createMailbox({ baseUrl: PREFIXED });
    expect(await getResponse(handlers as HttpHandler[], new Request(url))).toBeUndefined();
  });

  test('a handler of the user takes precedence over those of the mailbox', async ({ expect }) => {
    const mailbox = createMailbox({ baseUrl: 'https://overridden.test' });
    interceptor.use(
      http.get('https://overridden.test/v1/webhooks', () => HttpResponse.json({ webhooks: [] })),
      ...mailbox.handlers,
    );
    expect(await (await fetch('https://overridden.test/v1/webhooks')).json()).toEqual({ webhooks: [] });
    expect((await fetch('https://overridden.test/health')).status).toBe(200);
  });

  test('a bypassed request does not reach the mailbox', async ({ expect }) => {
    const { handlers, baseUrl } = createMailbox({ baseUrl: 'http://127.0.0.1:1' });
    interceptor.use(...handlers);
    expect((await fetch(`${baseUrl}/health`)).status).toBe(200);
    await expect(fetch(bypass(`${baseUrl}/health`))).rejects.toThrow('fetch failed');
  });
});
