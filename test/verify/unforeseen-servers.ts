import type { Reply } from '../../src/verify/verify-session.ts';
import { type Break, type Call, withBody } from './broken-servers.ts';

type Send = Parameters<Break>[1];
// biome-ignore lint/suspicious/noExplicitAny: a body of any operation.
type Body = any;

const isSuccess = ({ status }: Reply) => status >= 200 && status < 300;

/** Changes the body of a request of one operation. */
const onRequest =
  (operation: string, change: (body: Body, call: Call) => Body): (() => Break) =>
  () =>
  async (call, send) =>
    call.operation === operation ? await send({ body: change(structuredClone(call.body ?? {}), call) }) : await send();

/** Changes each object of a reply that has an id, at any depth, of the operations whose name matches. */
const onObjects =
  (operations: RegExp, change: (object: Body, call: Call) => Body): (() => Break) =>
  () =>
  async (call, send) => {
    const reply = await send();
    if (!operations.test(call.operation ?? '') || !isSuccess(reply) || !reply.text.startsWith('{')) return reply;
    return withBody(
      reply,
      deepChange(structuredClone(reply.body), (object) => change(object, call)),
    );
  };

function deepChange(value: Body, change: (object: Body) => Body): Body {
  if (Array.isArray(value)) return value.map((each) => deepChange(each, change));
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, deepChange(each, change)]));
  return change(copy);
}

/** Does something more after an operation has succeeded. `before` runs before it. */
const after =
  <Before>(
    operation: string,
    act: (call: Call, send: Send, reply: Reply, before: Before) => Promise<unknown>,
    before: (call: Call, send: Send) => Promise<Before> = async () => undefined as Before,
  ): (() => Break) =>
  () =>
  async (call, send) => {
    if (call.operation !== operation) return await send();
    const seen = await before(call, send);
    const reply = await send();
    if (isSuccess(reply)) await act(call, send, reply, seen);
    return reply;
  };

const onReply =
  (isBroken: (call: Call, reply: Reply) => boolean, change: (reply: Reply, call: Call) => Reply): (() => Break) =>
  () =>
  async (call, send) => {
    const reply = await send();
    return isBroken(call, reply) ? change(reply, call) : reply;
  };

const withHeader = (reply: Reply, name: string, value: string): Reply => {
  const headers = new Headers(reply.headers);
  headers.set(name, value);
  return { ...reply, headers };
};

const withStatus = (reply: Reply, status: number, body: object = { error: 'x' }): Reply => ({
  ...withBody(reply, body),
  status,
});

const parent = (path: string, up = 1) => path.split('/').slice(0, -up).join('/');

/** Deletes what stands beside the thing that was deleted. */
const deletesNeighbour = (operation: string, list: string, hasOwnPath = true) =>
  after<Body[]>(
    operation,
    async (call, send, _, items) => {
      const own = call.path.split('/').at(-1);
      const other = items.find((item) => item.id !== own);
      if (other) await send({ method: 'DELETE', path: `${parent(call.path)}/${other.id}`, key: 'tk_acme_tenant_key' });
    },
    async (call, send) => {
      const reply = await send({
        method: 'GET',
        path: hasOwnPath ? parent(call.path) : parent(call.path, 2),
        key: 'tk_acme_tenant_key',
      });
      return reply.body[list] ?? [];
    },
  );

/** A time that is moved. */
const moved = (text: string, ms: number) => new Date(Date.parse(text) + ms).toISOString();
const HOURS = 3_600_000;

/** Lets another key take the place of the key of a request, if the request is refused. */
const acceptKey =
  (
    correct: (key: string, known: ReadonlySet<string>, call: Call) => string | undefined,
    only?: (call: Call) => boolean,
  ): (() => Break) =>
  () => {
    const known = new Set<string>(['tk_acme_tenant_key', 'tk_globex_tenant_key']);
    return async (call, send) => {
      const reply = await send();
      for (const [, key] of reply.text.matchAll(/"(?:apiKey|key)":"((?:tk|wk|ak)_[^"]+)"/g)) if (key) known.add(key);
      if (reply.status !== 401 || (only && !only(call))) return reply;
      const key = correct(call.key, known, call);
      return key === undefined ? reply : await send({ key });
    };
  };

const newer = (operation: string) => (): Break => {
  const current = new Map<string, string>();
  const byInbox = new Map<string, string>();
  return async (call, send) => {
    const reply = await send();
    if (call.operation === 'createInbox' && reply.body.apiKey) byInbox.set(reply.body.id, reply.body.apiKey);
    if (call.operation === 'rotateInboxKey' && isSuccess(reply)) {
      current.set(byInbox.get(call.path.split('/')[3] ?? '') ?? '', reply.body.key);
    }
    const key = current.get(call.key);
    return reply.status === 401 && key && (call.operation ?? call.method) === operation ? await send({ key }) : reply;
  };
};

/** Servers that are broken in ways for which no check was written. */
export const UNFORESEEN: readonly { readonly name: string; readonly create: () => Break }[] = [
  {
    name: 'PATCH webhook url resets isActive',
    create: () => async (call, send) =>
      call.operation === 'updateWebhook' && call.body?.isActive === undefined
        ? await send({ body: { ...call.body, isActive: true } })
        : await send(),
  },
  { name: 'PATCH webhook ignores events', create: onRequest('updateWebhook', ({ events: _, ...body }) => body) },
  {
    name: 'PATCH webhook changes the secret',
    create: () => {
      const patched = new Set<string>();
      return async (call, send) => {
        const reply = await send();
        if (call.operation === 'updateWebhook' && isSuccess(reply)) patched.add(call.path.split('/')[3] ?? '');
        if (!/Webhooks?$/.test(call.operation ?? '') || call.operation === 'createWebhook' || !isSuccess(reply))
          return reply;
        return withBody(
          reply,
          deepChange(reply.body, (object) =>
            patched.has(object.id) && object.secret ? { ...object, secret: `${object.secret.slice(0, -2)}A=` } : object,
          ),
        );
      };
    },
  },
  { name: 'PATCH draft resets htmlBody', create: onRequest('updateDraft', (body) => ({ htmlBody: null, ...body })) },
  { name: 'PATCH draft loses cc', create: onRequest('updateDraft', (body) => ({ cc: null, ...body })) },
  { name: 'createDraft loses bcc', create: onRequest('createDraft', ({ bcc: _, ...body }) => body) },
  {
    name: 'createDraft loses replyToMessageId',
    create: onRequest('createDraft', ({ replyToMessageId: _, ...body }) => body),
  },
  { name: 'createDraft loses htmlBody', create: onRequest('createDraft', ({ htmlBody: _, ...body }) => body) },
  {
    name: 'star marks as read',
    create: onRequest('updateMessage', (body) =>
      body.isStarred === true && body.isRead === undefined ? { ...body, isRead: true } : body,
    ),
  },
  {
    name: 'archive unstars',
    create: onRequest('updateMessage', (body) =>
      body.isArchived === true && body.isStarred === undefined ? { ...body, isStarred: false } : body,
    ),
  },
  {
    name: 'isRead false is ignored',
    create: onRequest('updateMessage', ({ isRead, ...body }) =>
      isRead === false ? body : { ...body, ...(isRead !== undefined && { isRead }) },
    ),
  },
  {
    name: 'isStarred false is ignored',
    create: onRequest('updateMessage', ({ isStarred, ...body }) =>
      isStarred === false ? body : { ...body, ...(isStarred !== undefined && { isStarred }) },
    ),
  },
  { name: 'delete of a message takes the neighbour', create: deletesNeighbour('deleteMessage', 'messages') },
  {
    name: 'delete of a message takes the copy of the sender',
    create: after<Body>(
      'deleteMessage',
      async (_, send, __, message) => {
        const { body } = await send({ method: 'GET', path: '/v1/messages?limit=200', key: 'tk_acme_tenant_key' });
        const copy = body.messages?.find(
          (each: Body) => each.direction === 'outbound' && each.subject === message.subject,
        );
        if (copy)
          await send({
            method: 'DELETE',
            path: `/v1/inboxes/${copy.inboxId}/messages/${copy.id}`,
            key: 'tk_acme_tenant_key',
          });
      },
      async (_call, send) => (await send({ method: 'GET', key: 'tk_acme_tenant_key' })).body,
    ),
  },
  { name: 'delete of a draft takes the neighbour', create: deletesNeighbour('deleteDraft', 'drafts') },
  { name: 'delete of a list takes the neighbour', create: deletesNeighbour('deleteList', 'lists') },
  { name: 'delete of an entry takes the neighbour', create: deletesNeighbour('deleteListEntry', 'entries') },
  { name: 'delete of a key takes the neighbour', create: deletesNeighbour('deleteWorkspaceKey', 'keys') },
  {
    name: 'delete of a webhook takes the neighbour',
    create: after<Body[]>(
      'deleteWebhook',
      async (call, send, _, items) => {
        const index = items.findIndex(({ id }) => call.path.endsWith(id));
        const other = items[index + 1] ?? items[index - 1];
        if (other) await send({ method: 'DELETE', path: `/v1/webhooks/${other.id}`, key: 'tk_acme_tenant_key' });
      },
      async (_, send) =>
        (await send({ method: 'GET', path: '/v1/webhooks', key: 'tk_acme_tenant_key' })).body.webhooks ?? [],
    ),
  },
  {
    name: 'delete of an address takes all',
    create: after<Body[]>(
      'deleteInboxAddress',
      async (call, send, _, items) => {
        for (const { address } of items)
          await send({ method: 'DELETE', path: `${parent(call.path)}/${address}`, key: 'tk_acme_tenant_key' });
      },
      async (call, send) =>
        (await send({ method: 'GET', path: parent(call.path, 2), key: 'tk_acme_tenant_key' })).body.addresses ?? [],
    ),
  },
  {
    name: 'rotation ends the key of a sibling',
    create: () => {
      const keys = new Map<string, string>();
      const ended = new Set<string>();
      return async (call, send) => {
        if (ended.has(call.key)) return await send({ key: 'ak_not_a_key_of_anything' });
        const reply = await send();
        if (call.operation === 'createInbox' && reply.body.apiKey) keys.set(reply.body.id, reply.body.apiKey);
        if (call.operation === 'rotateInboxKey' && isSuccess(reply)) {
          const [sibling] = [...keys].filter(([id]) => id !== call.path.split('/')[3]);
          if (sibling) ended.add(sibling[1]);
        }
        return reply;
      };
    },
  },
  {
    name: 'rotation removes the display name',
    create: after('rotateInboxKey', async (call, send) => {
      await send({ method: 'PATCH', path: parent(call.path), body: { displayName: null }, key: 'tk_acme_tenant_key' });
    }),
  },
  {
    name: 'rotation reads the mail',
    create: after('rotateInboxKey', async (call, send) => {
      const inbox = parent(call.path);
      const { body } = await send({ method: 'GET', path: `${inbox}/messages`, key: 'tk_acme_tenant_key' });
      for (const { id } of body.messages ?? [])
        await send({
          method: 'PATCH',
          path: `${inbox}/messages/${id}`,
          body: { isRead: true },
          key: 'tk_acme_tenant_key',
        });
    }),
  },
  { name: 'cc gets no mail', create: onRequest('sendMessage', ({ cc: _, ...body }) => body) },
  { name: 'bcc gets no mail', create: onRequest('sendMessage', ({ bcc: _, ...body }) => body) },
  { name: 'sent mail loses htmlBody', create: onRequest('sendMessage', ({ htmlBody: _, ...body }) => body) },
  { name: 'sent mail loses replyTo', create: onRequest('sendMessage', ({ replyTo: _, ...body }) => body) },
  {
    name: 'the draft loses cc when it is sent',
    create: () => async (call, send) => {
      if (call.operation === 'sendDraft') await send({ method: 'PATCH', path: parent(call.path), body: { cc: null } });
      return await send();
    },
  },
  {
    name: 'the names of lists are cut',
    create: onRequest('createList', (body) => ({
      ...body,
      ...(typeof body.name === 'string' && { name: body.name.slice(0, 40) }),
    })),
  },
  {
    name: 'display names are cut',
    create: onRequest('createInbox', (body) => ({
      ...body,
      ...(typeof body.displayName === 'string' && { displayName: body.displayName.slice(0, 50) }),
    })),
  },
  {
    name: 'subjects are cut',
    create: onRequest('sendMessage', (body) => ({
      ...body,
      ...(typeof body.subject === 'string' && { subject: body.subject.slice(0, 78) }),
    })),
  },
  {
    name: 'emoji in names are lost',
    create: onRequest('updateInbox', (body) => ({
      ...body,
      ...(typeof body.displayName === 'string' && {
        displayName: body.displayName.replace(/\p{Extended_Pictographic}/gu, '?'),
      }),
    })),
  },
  {
    name: 'emoji in subjects are lost',
    create: onRequest('sendMessage', (body) => ({
      ...body,
      ...(typeof body.subject === 'string' && { subject: body.subject.replace(/\p{Extended_Pictographic}/gu, '?') }),
    })),
  },
  {
    name: 'updatedAt of drafts never moves',
    create: onObjects(/Drafts?$/, (object) => (object.updatedAt ? { ...object, updatedAt: object.createdAt } : object)),
  },
  {
    name: 'updatedAt lies before createdAt',
    create: onObjects(/Drafts?$/, (object) =>
      object.updatedAt ? { ...object, updatedAt: moved(object.createdAt, -5000) } : object,
    ),
  },
  {
    name: 'receivedAt is two hours off',
    create: onObjects(/Messages?$|getThread/, (object) =>
      object.receivedAt ? { ...object, receivedAt: moved(object.receivedAt, 2 * HOURS) } : object,
    ),
  },
  {
    name: 'createdAt of webhooks is two hours off',
    create: onObjects(/Webhooks?$/, (object) =>
      object.createdAt ? { ...object, createdAt: moved(object.createdAt, -2 * HOURS) } : object,
    ),
  },
  {
    name: 'createdAt has no milliseconds that differ',
    create: onObjects(/Inbox(?:es)?$/, (object) =>
      object.createdAt ? { ...object, createdAt: '2020-01-01T00:00:00.000Z' } : object,
    ),
  },
  {
    name: 'totals count deleted mail',
    create: () => {
      const deleted = new Map<string, number>();
      return async (call, send) => {
        const reply = await send();
        const inbox = call.path.split('/')[3] ?? '';
        if (call.operation === 'deleteMessage' && isSuccess(reply)) deleted.set(inbox, (deleted.get(inbox) ?? 0) + 1);
        if (call.operation !== 'listMessages' || !isSuccess(reply)) return reply;
        const { pagination } = reply.body;
        return withBody(reply, {
          ...reply.body,
          pagination: { ...pagination, total: pagination.total + (deleted.get(inbox) ?? 0) },
        });
      };
    },
  },
  {
    name: 'the secret changes with each reading',
    create: () => {
      let count = 0;
      return async (call, send) => {
        const reply = await send();
        if (call.operation !== 'getWebhook' || !isSuccess(reply) || !reply.body.secret) return reply;
        count += 1;
        return withBody(reply, {
          ...reply.body,
          secret: reply.body.secret.slice(0, -3) + String.fromCharCode(65 + (count % 26)) + reply.body.secret.slice(-2),
        });
      };
    },
  },
  {
    name: 'primary: true of an address is ignored',
    create: onRequest('addInboxAddress', ({ primary: _, ...body }) => ({ ...body, primary: false })),
  },
  {
    name: 'PATCH metadata resets the display name',
    create: onRequest('updateInbox', (body) =>
      body.metadata !== undefined && body.displayName === undefined ? { ...body, displayName: null } : body,
    ),
  },
  {
    name: 'limit=0 is accepted',
    create: () => async (call, send) =>
      call.query.get('limit') === '0' ? await send({ path: call.path }) : await send(),
  },
  {
    name: 'limit=-1 is a server error',
    create: onReply(
      (call) => call.query.get('limit') === '-1',
      (reply) => withStatus(reply, 500),
    ),
  },
  {
    name: 'an offset beyond the end is not found',
    create: onReply(
      (call, reply) => Number(call.query.get('offset')) > 50 && isSuccess(reply),
      (reply) => withStatus(reply, 404),
    ),
  },
  {
    name: 'offset skips one too few',
    create: () => async (call, send) => {
      const offset = Number(call.query.get('offset'));
      if (!(offset > 1)) return await send();
      const query = new URLSearchParams(call.query);
      query.set('offset', String(offset - 1));
      return await send({ path: `${call.path}?${query}` });
    },
  },
  {
    name: 'a thread marks its messages as read',
    create: after('getThread', async (call, send, reply) => {
      for (const { id } of reply.body.messages ?? [])
        await send({ method: 'PATCH', path: `${parent(call.path, 2)}/messages/${id}`, body: { isRead: true } });
    }),
  },
  {
    name: 'the raw mail marks as read',
    create: after(
      'getRawMessage',
      async (call, send) => void (await send({ method: 'PATCH', path: parent(call.path), body: { isRead: true } })),
    ),
  },
  {
    name: 'reading one message marks all as read',
    create: after('getMessage', async (call, send) => {
      const { body } = await send({ method: 'GET', path: parent(call.path) });
      for (const { id } of body.messages ?? [])
        await send({ method: 'PATCH', path: `${parent(call.path)}/${id}`, body: { isRead: true } });
    }),
  },
  {
    name: 'HEAD needs no key',
    create: () => async (call, send) => {
      const reply = await send();
      return call.method === 'HEAD' && reply.status === 401 ? await send({ key: 'tk_acme_tenant_key' }) : reply;
    },
  },
  {
    name: 'every origin may read every reply',
    create: onReply(
      () => true,
      (reply) =>
        withHeader(withHeader(reply, 'access-control-allow-origin', '*'), 'access-control-allow-credentials', 'true'),
    ),
  },
  {
    name: 'a cookie has the key',
    create: onReply(
      (call) => call.key !== '',
      (reply, call) => withHeader(reply, 'set-cookie', `session=${call.key}; Path=/`),
    ),
  },
  {
    name: 'a header has the key',
    create: onReply(
      (call) => call.key !== '',
      (reply, call) => withHeader(reply, 'x-debug-auth', call.key),
    ),
  },
  {
    name: 'errors have a stack trace',
    create: onReply(
      (_, reply) => reply.status === 404,
      (reply) => withBody(reply, { ...reply.body, error: 'Error: no row\n    at find (/srv/app/db.js:12:7)' }),
    ),
  },
  {
    name: 'errors have SQL',
    create: onReply(
      (_, reply) => reply.status === 409 || reply.status === 400,
      (reply) =>
        withBody(reply, { ...reply.body, error: 'duplicate key: INSERT INTO inboxes (id, email) VALUES ($1, $2)' }),
    ),
  },
  {
    name: 'errors name a key of somebody else',
    create: () => {
      let seen: string | undefined;
      return async (call, send) => {
        const reply = await send();
        if (call.operation === 'createInbox' && reply.body.apiKey && call.key.startsWith('tk_globex'))
          seen ??= reply.body.apiKey;
        return reply.status === 404 && seen
          ? withBody(reply, { ...reply.body, error: `not found (last session ${seen})` })
          : reply;
      };
    },
  },
  {
    name: 'errors name the id of somebody else',
    create: () => {
      let seen: string | undefined;
      return async (call, send) => {
        const reply = await send();
        if (call.operation === 'createInbox' && reply.body.id && call.key.startsWith('tk_globex'))
          seen ??= reply.body.id;
        return reply.status === 404 && seen && !call.path.includes(seen) && !call.key.startsWith('tk_globex')
          ? withBody(reply, { ...reply.body, error: `not found, did you mean ${seen}?` })
          : reply;
      };
    },
  },
  {
    name: 'a shortened key is accepted',
    create: acceptKey((key, known) => (key.length > 8 ? [...known].find((each) => each.startsWith(key)) : undefined)),
  },
  {
    name: 'a lengthened key is accepted',
    create: acceptKey((key, known) => [...known].find((each) => key !== each && key.startsWith(each))),
  },
  {
    name: 'a re-cased key is accepted',
    create: acceptKey((key, known) => [...known].find((each) => each.toLowerCase() === key.toLowerCase())),
  },
  {
    name: 'a shortened key is accepted by one operation',
    create: acceptKey(
      (key, known) => (key.length > 8 ? [...known].find((each) => each.startsWith(key)) : undefined),
      ({ operation }) => operation === 'listInboxes',
    ),
  },
  {
    name: 'the key in the query is accepted everywhere',
    create: acceptKey((_, known, call) => [...known].find((each) => each === call.query.get('api_key'))),
  },
  { name: 'HEAD accepts the old key', create: newer('HEAD') },
  {
    name: 'a deleted workspace key lists inboxes',
    create: () => {
      const keys = new Map<string, string>();
      const deleted = new Map<string, Reply>();
      return async (call, send) => {
        if (call.operation === 'deleteWorkspaceKey') {
          const key = keys.get(call.path.split('/').at(-1) ?? '');
          if (key) deleted.set(key, await send({ method: 'GET', path: '/v1/inboxes', key }));
        }
        const reply = await send();
        if (call.operation === 'createWorkspaceKey' && isSuccess(reply)) keys.set(reply.body.id, reply.body.key);
        return call.operation === 'listInboxes' && reply.status === 401 ? (deleted.get(call.key) ?? reply) : reply;
      };
    },
  },
  {
    name: 'the key of a deleted inbox stays valid',
    create: () => {
      const keys = new Map<string, string>();
      const deleted = new Map<string, Reply>();
      return async (call, send) => {
        if (call.operation === 'deleteInbox') {
          const key = keys.get(call.path.split('/').at(-1) ?? '');
          if (key) deleted.set(key, await send({ method: 'GET', path: `${call.path}/messages`, key }));
        }
        const reply = await send();
        if (call.operation === 'createInbox' && reply.body.apiKey) keys.set(reply.body.id, reply.body.apiKey);
        return call.operation === 'listMessages' && reply.status === 401 ? (deleted.get(call.key) ?? reply) : reply;
      };
    },
  },
  {
    name: 'the second page shows the mail of everybody',
    create: () => async (call, send) =>
      await send(
        call.operation === 'listMessages' && Number(call.query.get('offset')) > 0 ? { key: 'tk_acme_tenant_key' } : {},
      ),
  },
  {
    name: 'a foreign inboxId shows its mail',
    create: () => async (call, send) => {
      const reply = await send();
      return call.operation === 'listAllMessages' && call.query.has('inboxId') && call.key === 'tk_globex_tenant_key'
        ? await send({ key: 'tk_acme_tenant_key' })
        : reply;
    },
  },
  {
    name: 'a foreign workspace is accepted for a webhook',
    create: () => async (call, send) => {
      const reply = await send();
      return call.operation === 'createWebhook' && reply.status === 404
        ? await send({ body: { ...call.body, workspaceId: null } })
        : reply;
    },
  },
  {
    name: 'JSON has another charset',
    create: onReply(
      (_, reply) => /json/.test(reply.headers.get('content-type') ?? ''),
      (reply) => withHeader(reply, 'content-type', 'application/json; charset=iso-8859-1'),
    ),
  },
  {
    name: 'JSON begins with a byte order mark',
    create: onReply(
      (call, reply) => call.operation === 'getMe' && isSuccess(reply),
      (reply) => ({ ...reply, text: `\uFEFF${reply.text}` }),
    ),
  },
  {
    name: 'not a url is accepted',
    create: onRequest('createWebhook', (body) =>
      typeof body.url === 'string' && !URL.canParse(body.url) ? { ...body, url: 'https://verify.invalid/' } : body,
    ),
  },
  {
    name: 'an empty list of events is accepted',
    create: onRequest('createWebhook', (body) =>
      body.events?.length === 0 ? { ...body, events: ['message.received'] } : body,
    ),
  },
  {
    name: 'an unknown event is accepted',
    create: onRequest('createWebhook', (body) => ({
      ...body,
      ...(Array.isArray(body.events) &&
        body.events.length > 0 && {
          events: body.events.map((event: Body) =>
            String(event).startsWith('message.') && ['received', 'sent', 'bounced'].includes(String(event).slice(8))
              ? event
              : 'message.received',
          ),
        }),
    })),
  },
  {
    name: 'PATCH accepts an invalid url',
    create: onRequest('updateWebhook', (body) =>
      typeof body.url === 'string' && !URL.canParse(body.url) ? { ...body, url: 'https://verify.invalid/' } : body,
    ),
  },
  {
    name: 'Reply-To is ignored by a reply',
    create: () => {
      return async (call, send) => {
        if (call.operation !== 'replyToMessage') return await send();
        const { body } = await send({ method: 'GET', path: call.path.replace('/reply/', '/messages/') });
        return body.from && body.replyTo
          ? await send({
              path: `${parent(call.path, 2)}/send`,
              body: { to: body.from, subject: `Re: ${body.subject}`, verified: true, ...call.body },
            })
          : await send();
      };
    },
  },
  { name: 'forward loses its own text', create: onRequest('forwardMessage', ({ plainBody: _, ...body }) => body) },
  { name: 'forward loses its subject', create: onRequest('forwardMessage', ({ subject: _, ...body }) => body) },
  { name: 'reply loses htmlBody', create: onRequest('replyToMessage', ({ htmlBody: _, ...body }) => body) },
  {
    name: 'messageCount of a long thread is wrong',
    create: onObjects(/Threads?$/, (object) => (object.messageCount > 2 ? { ...object, messageCount: 2 } : object)),
  },
  {
    name: 'starred counts archived mail too',
    create: onReply(
      (call, reply) => call.operation === 'countFolders' && isSuccess(reply),
      (reply) =>
        withBody(reply, { ...reply.body, starred: { total: reply.body.starred.total + reply.body.archived.total } }),
    ),
  },
  {
    name: 'a deleted message leaves its thread',
    create: () => {
      const deleted = new Set<string>();
      return async (call, send) => {
        const reply = await send();
        if (call.operation === 'deleteMessage' && isSuccess(reply)) deleted.add(call.path.split('/').at(-1) ?? '');
        if (call.operation !== 'getThread' || !isSuccess(reply)) return reply;
        const messages = reply.body.messages.filter(({ id }: Body) => !deleted.has(id));
        return withBody(reply, { ...reply.body, messages, messageCount: messages.length });
      };
    },
  },
  { name: 'lists lose their description', create: onRequest('createList', ({ description: _, ...body }) => body) },
  { name: 'the metadata of entries is lost', create: onRequest('createListEntry', ({ metadata: _, ...body }) => body) },
  {
    name: 'entryCount counts deleted entries',
    create: () => {
      const deleted = new Map<string, number>();
      return async (call, send) => {
        const reply = await send();
        const listId = call.path.split('/')[5] ?? '';
        if (call.operation === 'deleteListEntry' && isSuccess(reply))
          deleted.set(listId, (deleted.get(listId) ?? 0) + 1);
        if (!/^(?:getList|listLists)$/.test(call.operation ?? '') || !isSuccess(reply)) return reply;
        return withBody(
          reply,
          deepChange(reply.body, (object) =>
            object.entryCount === undefined
              ? object
              : { ...object, entryCount: object.entryCount + (deleted.get(object.id) ?? 0) },
          ),
        );
      };
    },
  },
  {
    name: 'inboxCount counts deleted inboxes',
    create: () => {
      let deleted = 0;
      return async (call, send) => {
        const reply = await send();
        if (call.operation === 'deleteInbox' && isSuccess(reply)) deleted += 1;
        if (!/^(?:getWorkspace|listWorkspaces)$/.test(call.operation ?? '') || !isSuccess(reply)) return reply;
        return withBody(
          reply,
          deepChange(reply.body, (object) =>
            object.inboxCount === undefined ? object : { ...object, inboxCount: object.inboxCount + deleted },
          ),
        );
      };
    },
  },
  {
    name: 'a sent draft stays',
    create: () => async (call, send) => {
      if (call.operation !== 'sendDraft') return await send();
      const draft = await send({ method: 'GET', path: parent(call.path) });
      const reply = await send();
      if (isSuccess(reply)) {
        const { to, cc, bcc, subject, plainBody, htmlBody } = draft.body;
        await send({ method: 'POST', path: parent(call.path, 2), body: { to, cc, bcc, subject, plainBody, htmlBody } });
      }
      return reply;
    },
  },
  {
    name: 'to: null of a draft is ignored',
    create: onRequest('updateDraft', ({ to, ...body }) =>
      to === null ? body : { ...body, ...(to !== undefined && { to }) },
    ),
  },
  {
    name: 'null for the display name is ignored',
    create: onRequest('updateInbox', ({ displayName, ...body }) =>
      displayName === null ? body : { ...body, ...(displayName !== undefined && { displayName }) },
    ),
  },
  {
    name: 'PATCH answers before and without the change of subject of a draft',
    create: onRequest('updateDraft', ({ subject: _, ...body }) => body),
  },
  {
    name: 'a body of the wrong type is accepted',
    create: () => async (call, send) => {
      const reply = await send();
      return reply.status === 400 && call.operation === 'createList' && call.body && typeof call.body.name !== 'string'
        ? await send({ body: { ...call.body, name: 'Verify' } })
        : reply;
    },
  },
  {
    name: 'the key in Allow is missing for a wrong method',
    create: onReply(
      (_, reply) => reply.headers.has('allow'),
      (reply) => {
        const headers = new Headers(reply.headers);
        headers.delete('allow');
        return { ...reply, headers };
      },
    ),
  },
  {
    name: 'the metrics swap sent and received',
    create: onReply(
      (call, reply) => call.operation === 'getMetrics' && isSuccess(reply),
      (reply) =>
        withBody(reply, {
          ...reply.body,
          counts: { ...reply.body.counts, sent: reply.body.counts.received, received: reply.body.counts.sent },
        }),
    ),
  },
  {
    name: 'an inbox key may read the inbox of a sibling by HEAD',
    create: () => async (call, send) => {
      const reply = await send();
      return call.method === 'HEAD' && reply.status === 404 ? await send({ key: 'tk_acme_tenant_key' }) : reply;
    },
  },
  {
    name: 'unread is not counted again after isRead false',
    create: () => {
      let unread = 0;
      return async (call, send) => {
        const reply = await send();
        if (call.operation === 'updateMessage' && call.body?.isRead === false && isSuccess(reply)) unread += 1;
        if (call.operation !== 'countFolders' || !isSuccess(reply)) return reply;
        return withBody(reply, {
          ...reply.body,
          inbox: { ...reply.body.inbox, unread: Math.max(0, reply.body.inbox.unread - unread) },
        });
      };
    },
  },
  {
    name: 'two creates at once are one',
    create: () => {
      const running = new Map<string, Promise<Reply>>();
      return async (call, send) => {
        if (!/^create(?:Webhook|List|Draft)$/.test(call.operation ?? '')) return await send();
        const name = `${call.operation} ${call.path}`;
        const other = running.get(name);
        if (other) return await other;
        const own = (async () => {
          const reply = await send();
          await new Promise((resolve) => setTimeout(resolve, 5));
          return reply;
        })();
        running.set(name, own);
        try {
          return await own;
        } finally {
          running.delete(name);
        }
      };
    },
  },
  {
    name: 'the workspace selector of the other tenant is accepted',
    create: () => async (call, send) => {
      const reply = await send();
      return call.operation === 'listWebhooks' && call.query.has('workspace') && call.key === 'tk_globex_tenant_key'
        ? await send({ key: 'tk_acme_tenant_key' })
        : reply;
    },
  },
  {
    name: 'the slug is taken from somebody else',
    create: onReply(
      (call, reply) => call.operation === 'createInbox' && reply.body.existed === true,
      (reply) => withBody(reply, { ...reply.body, apiKey: 'ak_aaaaaaaaaaaaaaaaaaaaaaaa' }),
    ),
  },
];
