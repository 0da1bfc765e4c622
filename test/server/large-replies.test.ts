import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, type TestContext, test } from 'vitest';

const TEXT = 'Hello "Dana", thank you for your order ☃.\n'.repeat(1_500);

/** Starts a server whose inbox has many large mails. The whole list is larger than what is written as one text. */
async function start(test: Pick<TestContext, 'onTestFinished'>, count = 60) {
  const server = await startServer({ port: 0 });
  test.onTestFinished(() => server.close());
  const { mailbox } = server;
  const { keys, ids } = mailbox as unknown as {
    keys: { acme: { tenant: string; inboxes: { helpdesk: string } } };
    ids: { acme: { inboxes: { helpdesk: string } } };
  };
  for (let number = 0; number < count; number += 1) {
    await mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      from: 'dana@customer.test',
      subject: `Order ${number}`,
      plainBody: TEXT,
    });
  }
  mailbox.clearRequests();
  const headers = { 'X-API-Key': keys.acme.inboxes.helpdesk };
  const list = `/v1/inboxes/${ids.acme.inboxes.helpdesk}/messages?limit=100`;
  return { server, mailbox, headers, keys, list };
}

describe('large replies', () => {
  test.for(['the service', 'the control plane'])('of %s do not keep a small request waiting', async (part, test) => {
    const { server, mailbox, headers, list } = await start(test);
    const url = server.url + (part === 'the service' ? list : '/__mock/messages');
    const finished: string[] = [];
    const load = async (name: string, target: string) => {
      const response = await fetch(target, { headers });
      const { length } = await response.text();
      finished.push(name);
      return length;
    };
    const large = Array.from({ length: 6 }, () => load('large', url));
    await load('small', `${server.url}/v1/me`);
    // The small request was sent last, and is answered before the large replies are written.
    expect(finished).toEqual(['small']);
    const requests = mailbox.requests().map(({ operation }) => operation);
    if (part === 'the service') expect(requests.filter((id) => id === 'listMessages').length).toBeLessThan(6);
    const lengths = await Promise.all(large);
    expect(new Set(lengths).size).toBe(1);
    expect(lengths[0]).toBeGreaterThan(60 * TEXT.length);
  });

  test('have the same status, headers and bytes over HTTP as in process', async (test) => {
    const { server, mailbox, headers, list } = await start(test);
    for (const path of [list, `${list}&offset=50`, list.replace('limit=100', 'limit=2')]) {
      const inProcess = await mailbox.fetch(new Request(`${mailbox.baseUrl}${path}`, { headers }));
      const response = await fetch(server.url + path, { headers });
      expect(await response.text()).toBe(await inProcess.text());
      expect(response.status).toBe(inProcess.status);
      for (const name of ['content-type', 'content-length', 'x-mock-assumed']) {
        expect([name, response.headers.get(name)]).toEqual([name, inProcess.headers.get(name)]);
      }
      const head = await fetch(server.url + path, { method: 'HEAD', headers });
      expect(head.headers.get('content-length')).toBe(response.headers.get('content-length'));
    }
  });

  test('are in the journal with their size and their beginning, and the mails in them count as read', async (test) => {
    const { server, mailbox, headers, list } = await start(test);
    const text = await (await fetch(server.url + list, { headers })).text();
    const [request] = mailbox.requests();
    expect(request?.reply.bodyBytes).toBe(Buffer.byteLength(text));
    expect(text.startsWith(request?.reply.body ?? 'nothing')).toBe(true);
    const [read] = mailbox.journal({ kinds: ['read'] });
    const { messages } = JSON.parse(text) as { messages: { id: string }[] };
    expect(read?.data).toMatchObject({ messageIds: expect.arrayContaining(messages.map(({ id }) => id)) });
  });

  test('of a fault are sent as they are, also in place of a large reply', async (test) => {
    const { server, mailbox, headers, list } = await start(test);
    await mailbox.addFault({
      on: 'request',
      operation: 'listMessages',
      status: 200,
      body: { messages: [] },
      times: 1,
    } as never);
    expect(await (await fetch(server.url + list, { headers })).json()).toEqual({ messages: [] });
    expect(mailbox.journal({ kinds: ['read'] })).toEqual([]);
  });

  test('as results of a tool end after 100,000 characters of texts, as a text and as structured content', async (test) => {
    const { server, keys } = await start(test);
    const client = new Client({ name: 'test', version: '1' });
    test.onTestFinished(() => client.close());
    const requestInit = { headers: { 'X-API-Key': keys.acme.inboxes.helpdesk } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }) as never);
    const result = await client.callTool({ name: 'listMessages', arguments: { limit: 100 } });
    const { messages } = result.structuredContent as { messages: { id: string; plainBody: string }[] };
    expect(messages.length).toBeGreaterThanOrEqual(60);
    const whole = messages.filter(({ plainBody }) => plainBody === TEXT.trim() || plainBody === TEXT);
    expect(whole).toHaveLength(1);
    expect(Math.max(...messages.slice(1).map(({ plainBody }) => plainBody.length))).toBeLessThanOrEqual(1_000);
    const [, { text = '' } = {}] = result.content as { text?: string }[];
    expect(JSON.parse(text)).toEqual(result.structuredContent);
    const read = await client.callTool({ name: 'getMessage', arguments: { messageId: messages.at(-1)?.id } });
    expect(read.structuredContent).toHaveProperty('plainBody');
  });
});
