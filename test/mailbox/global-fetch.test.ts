import { createMailbox } from 'agent-mailbox-mock';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => void vi.unstubAllGlobals());

/** Replaces the global `fetch` by one that keeps what it gets, creates a mailbox, and makes its `fetch` global. */
function createGlobalMailbox() {
  const others: unknown[] = [];
  vi.stubGlobal('fetch', async (...input: unknown[]) => {
    others.push(input);
    return new Response('of another');
  });
  const mailbox = createMailbox();
  vi.stubGlobal('fetch', mailbox.fetch);
  return { mailbox, others };
}

test.sequential('as the global fetch, a mailbox answers its URLs and passes others on as they are', async () => {
  const { mailbox, others } = createGlobalMailbox();
  expect((await fetch(`${mailbox.baseUrl}/health`)).status).toBe(200);
  expect((await fetch(new Request(`${mailbox.baseUrl}/health`))).status).toBe(200);
  expect(others).toEqual([]);
  const init = { method: 'POST', body: 'x' };
  const request = new Request('https://model.test/v1/me', init);
  for (const input of ['https://model.test/v1/me', new URL('https://mailbox.test.example/v1/me'), request]) {
    expect(await (await fetch(input, init)).text()).toBe('of another');
    expect(others.pop()).toEqual([input, init]);
  }
});

test.sequential('a URL of another service is passed on also when fetch is called on the mailbox', async () => {
  const { mailbox, others } = createGlobalMailbox();
  vi.unstubAllGlobals();
  expect(await (await mailbox.fetch('https://model.test/')).text()).toBe('of another');
  expect(others).toEqual([['https://model.test/', undefined]]);
  expect((await mailbox.fetch(new Request('https://model.test/health'))).status).toBe(200);
});

test.sequential('deliveries reach a receiver on this machine, and no other machine', async () => {
  await using receiver = createReceiver();
  const mailbox = createMailbox();
  vi.stubGlobal('fetch', mailbox.fetch);
  const tenant = mailbox.ids.acme.tenant;
  await mailbox.addWebhook({ receiver, tenant });
  const ids = new Set<string>();
  for (const url of ['https://192.0.2.1/hook', 'https://agent.test/hook']) {
    ids.add((await mailbox.addWebhook({ url, tenant })).id);
  }
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Hi' });
  const [request] = await receiver.received(1);
  expect(request?.verified).toBe(true);
  const toOthers = () => mailbox.deliveries().filter(({ webhookId }) => ids.has(webhookId));
  await expect.poll(() => toOthers().every(({ state }) => state === 'refused')).toBe(true);
  expect(toOthers().map(({ reason }) => reason?.endsWith('so it was not called.'))).toEqual([true, true]);
});
