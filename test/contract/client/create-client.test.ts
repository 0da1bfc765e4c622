import { ApiError, createMailbox, ERRORS } from 'agent-mailbox-mock';
import { ApiReplyError, createClient, type ServiceClient } from 'agent-mailbox-mock/client';
import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, test } from 'vitest';
import { OPERATION_CALLS } from '../../../src/contract/client/operation-calls.ts';
import { OPERATION_ROWS, type OperationRow } from '../../../src/contract/operations.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';

interceptRequests();

/** Resolves with the error of a call that the service must refuse. */
async function refusalOf(call: Promise<unknown>): Promise<ApiReplyError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiReplyError) return error;
  throw new Error('The call was not refused.', { cause: error });
}

/** A client that keeps each request that it would send, and gets this reply. */
function createRecordingClient(reply: () => Response, key = 'k') {
  const requests: { readonly url: string; readonly init: RequestInit }[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    requests.push({ url, init });
    return reply();
  };
  return { client: createClient({ baseUrl: 'http://mail.test/api/', key, fetch }), requests };
}

describe('the client', () => {
  test('has a method for each row of the operation table', () => {
    const show = (row: OperationRow) => {
      const content = 'body' in row ? ' body' : 'content' in row ? ' bytes' : '';
      return [row.id, `${row.method} ${row.path}${content}`] as const;
    };
    expect(Object.entries(OPERATION_CALLS)).toEqual(OPERATION_ROWS.map(show));
    const { client } = createRecordingClient(() => new Response());
    expect(Object.keys(client)).toEqual(OPERATION_ROWS.map(({ id }) => id));
  });

  everywhere('calls operations with a path, a body and a query', async ({ mailbox, url }) => {
    const { keys, ids } = mailbox;
    const inbox = ids.acme.inboxes.helpdesk;
    const helpdesk = createClient({ baseUrl: url, key: keys.acme.inboxes.helpdesk });
    expect((await helpdesk.getMe()).inboxId).toBe(inbox);
    const mail = {
      to: 'helpdesk@acme.test',
      from: 'dana@customer.test',
      subject: 'Order 7',
      plainBody: 'Where is it?',
    };
    const [received] = await mailbox.receiveMessage({
      ...mail,
      attachments: [{ filename: 'a.json', text: '{"a":1}' }],
    });
    const id = String(received?.id);
    const message = await helpdesk.getMessage(inbox, id);
    expect([message.subject, message.plainBody.trim()]).toEqual(['Order 7', 'Where is it?']);
    const { threadId } = await helpdesk.replyToMessage(inbox, id, { plainBody: 'Here.' });
    expect(threadId).toBe(message.threadId);
    const sent = await helpdesk.listMessages(inbox, { query: { direction: 'outbound', limit: 1 } });
    expect(sent.messages.map(({ subject }) => subject)).toEqual(['Re: Order 7']);
    await helpdesk.updateMessage(inbox, id, { isStarred: true });
    expect((await helpdesk.listAllMessages({ query: { folder: 'starred' } })).messages).toHaveLength(1);
    const { isArchived } = await helpdesk.getMessage(inbox, id);
    expect(isArchived).toBe(false);
  });

  everywhere('resolves with the bytes of a mail and of an attachment, also of JSON', async ({ mailbox, url }) => {
    const inbox = mailbox.ids.acme.inboxes.helpdesk;
    const helpdesk = createClient({ baseUrl: url, key: mailbox.keys.acme.inboxes.helpdesk });
    const attachments = [{ filename: 'a.json', contentType: 'application/json', text: '{"a":1}' }];
    const mail = { to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Bytes', attachments };
    const [received] = await mailbox.receiveMessage(mail);
    const id = String(received?.id);
    const { attachments: listed } = await helpdesk.listAttachments(inbox, id);
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    expect(text(await helpdesk.getAttachment(inbox, id, String(listed[0]?.id)))).toBe('{"a":1}');
    expect(text(await helpdesk.getRawMessage(inbox, id))).toMatch(/^Subject: Bytes\r$/m);
  });

  everywhere('rejects with the status, the code, the request and the reply', async ({ mailbox, url }) => {
    const tenant = createClient({ baseUrl: url, key: mailbox.keys.acme.tenant });
    const body = { url: 'not a URL' };
    const error = await refusalOf(tenant.createWebhook(body));
    expect([error.name, error.status, error.code]).toEqual(['ApiReplyError', 400, 'VALIDATION_ERROR']);
    expect(error.request).toEqual({ method: 'POST', url: `${url}/v1/webhooks`, body });
    expect([error.reply.status, error.reply.body]).toMatchObject([400, { code: 'VALIDATION_ERROR' }]);
    expect(error.reply.headers.get('Content-Type')).toContain('application/json');
    const { error: sentence } = error.reply.body as { readonly error: string };
    expect(error.message).toBe(`POST ${url}/v1/webhooks was answered with 400 VALIDATION_ERROR: ${sentence}`);
    expect(ERRORS).toHaveProperty(String((await refusalOf(createClient({ baseUrl: url }).getMe())).code));
  });

  everywhere('sends one request for each call, and retries nothing', async ({ mailbox, url }) => {
    mailbox.addFault({ on: 'request', status: 503, times: 1 });
    mailbox.clearRequests();
    const tenant = createClient({ baseUrl: url, key: mailbox.keys.acme.tenant });
    expect((await refusalOf(tenant.listInboxes())).status).toBe(503);
    expect(mailbox.requests()).toHaveLength(1);
  });

  test('writes path parameters, bodies, queries and headers as HTTP needs them', async () => {
    const { client, requests } = createRecordingClient(() => Response.json({}));
    await client.deleteInboxAddress('a/b', 'x+y@z.test', { headers: { 'X-Trace': '1' } });
    await client.replyToMessage('1', '2');
    await client.getMetrics({ query: { from: new Date(0), workspace: undefined } });
    await client.updateInbox('1', { displayName: undefined }, { headers: { 'X-API-Key': 'other' } });
    const shown = requests.map(({ url, init }) => {
      const { 'x-api-key': key, ...headers } = Object.fromEntries(new Headers(init.headers));
      return [init.method, url.replace('http://mail.test/api', ''), key, headers, init.body];
    });
    const json = { 'content-type': 'application/json' };
    expect(shown).toEqual([
      ['DELETE', '/v1/inboxes/a%2Fb/addresses/x%2By%40z.test', 'k', { 'x-trace': '1' }, undefined],
      ['POST', '/v1/inboxes/1/reply/2', 'k', json, '{}'],
      ['GET', '/v1/metrics?from=1970-01-01T00%3A00%3A00.000Z', 'k', {}, undefined],
      ['PATCH', '/v1/inboxes/1', 'other', json, '{}'],
    ]);
  });

  test('a reply without a body is undefined, and an error that is not JSON has its text', async () => {
    expect(await createRecordingClient(() => new Response(null, { status: 204 })).client.getHealth()).toBeUndefined();
    const failing = createRecordingClient(() => new Response('<h1>Bad gateway</h1>', { status: 502 })).client;
    const error = await refusalOf(failing.getMe());
    expect([error.code, error.reply.body]).toEqual([undefined, '<h1>Bad gateway</h1>']);
    expect(error.message).toBe('GET http://mail.test/api/v1/me was answered with 502');
  });

  test('a call that is aborted sends the reason on', async () => {
    const mailbox = createMailbox();
    const fetch = async (_: string, { signal }: RequestInit) => {
      signal?.throwIfAborted();
      return new Response();
    };
    const client = createClient({ baseUrl: mailbox.baseUrl, fetch });
    await expect(client.getHealth({ signal: AbortSignal.abort(new Error('Enough.')) })).rejects.toThrow('Enough.');
  });

  test.for(['.', '..'])(
    'an argument %s of a path is refused, because it would lead to another operation',
    async (name) => {
      const mailbox = createMailbox();
      const client = mailbox.client(mailbox.keys.acme.tenant);
      const { support } = mailbox.ids.acme.workspaces;
      await expect(client.deleteWorkspaceKey(support, name)).rejects.toThrow(
        new TypeError(
          `The key_id of the method deleteWorkspaceKey must not be "${name}", because a URL with it leads to another path.`,
        ),
      );
      expect(mailbox.requests()).toEqual([]);
    },
  );

  test('a wrong argument is an error that names the method and the argument', async () => {
    const client = createMailbox().client('k') as unknown as Record<string, (...input: unknown[]) => Promise<unknown>>;
    await expect(client.getMessage?.('1')).rejects.toThrow(
      new TypeError('The messageId of the method getMessage must be a text, not undefined.'),
    );
    expect(() => createClient({ baseUrl: '/v1' })).toThrow(
      new TypeError('The option baseUrl of createClient must be an absolute URL, not "/v1".'),
    );
    expect(() => createClient({ baseUrl: 'http://a.test', apiKey: 'k' } as never)).toThrow(
      'createClient has no option "apiKey"; there are: baseUrl, key, fetch.',
    );
  });

  test('a mailbox, a server and a sandbox each have a client', async () => {
    const mailbox = createMailbox();
    const tierOf = async (client: ServiceClient) => (await client.getMe()).tier;
    expect(await tierOf(mailbox.client(mailbox.keys.acme.inboxes.helpdesk))).toBe('inbox');
    const sandbox = mailbox.createSandbox();
    expect((await sandbox.client().getMe()).tenantId).toBe(sandbox.ids.tenant);
    expect(await tierOf(sandbox.client(sandbox.keys.inboxes.helpdesk))).toBe('inbox');
    await using server = await startServer({ port: 0 });
    expect(await tierOf(server.client(server.mailbox.keys.acme.tenant))).toBe('tenant');
    const ofServer = server.mailbox.createSandbox();
    expect((await ofServer.client().getMe()).tenantId).toBe(ofServer.ids.tenant);
  });

  test('an error of the client is recognised across copies, and is not an error of the emulator', () => {
    const foreign = Object.assign(new Error('x'), { name: 'ApiReplyError' });
    expect([foreign instanceof ApiReplyError, foreign instanceof ApiError]).toEqual([true, false]);
    const own = new ApiReplyError(
      { method: 'GET', url: '', body: undefined },
      { status: 404, headers: new Headers(), body: '' },
    );
    expect([own instanceof ApiReplyError, own instanceof ApiError]).toEqual([true, false]);
  });
});
