import type { Mailbox } from 'agent-mailbox-mock';
import { OPERATION_ROWS, type OperationId } from '../../src/contract/operations.ts';
import { sendInProcess } from '../../src/verify/targets.ts';
import type { Reply, Target } from '../../src/verify/verify-session.ts';

/** A request to a broken server. */
export interface Call {
  readonly operation: OperationId | undefined;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly key: string;
  // biome-ignore lint/suspicious/noExplicitAny: a body of a request.
  readonly body: any;
}

/** Answers a request. `send` sends the request, or another one in its place, to a server that is not broken. */
export type Break = (
  call: Call,
  send: (change?: Partial<Pick<Call, 'method' | 'path' | 'key' | 'body'>>) => Promise<Reply>,
  keys: Keys,
) => Promise<Reply>;

/** A server that is not broken. */
export const INTACT: Break = async (_, send) => await send();

/** The keys of the two tenants of the default fixture. */
type Keys = { readonly tenant: string; readonly otherTenant: string };

/** A server that is broken on purpose: in what, how, and the operations that a report must name, and no others. */
export interface BrokenServer {
  readonly name: string;
  readonly named: readonly OperationId[];
  /** Creates the server, which can remember what it was sent. */
  create(): Break;
}

/** Sends the requests of a run through a break to a mailbox. */
export function sendThrough(mailbox: Pick<Mailbox, 'fetch'>, broken: Break, keys: Keys): Target['send'] {
  const real = sendInProcess(mailbox as never);
  return async (url, init) => {
    const { pathname, searchParams, origin } = new URL(url);
    const headers = new Headers(init.headers);
    const call: Call = {
      operation: operationOf(init.method ?? 'GET', pathname),
      method: init.method ?? 'GET',
      path: pathname,
      query: searchParams,
      key: headers.get('x-api-key') ?? '',
      body: typeof init.body === 'string' && init.body.startsWith('{') ? JSON.parse(init.body) : undefined,
    };
    const query = searchParams.size > 0 ? `?${searchParams}` : '';
    const send: Parameters<Break>[1] = ({
      method = call.method,
      path = call.path + query,
      key = call.key,
      body,
    } = {}) => {
      const changed = new Headers(headers);
      if (key === '') changed.delete('x-api-key');
      else changed.set('x-api-key', key);
      const text = body === undefined ? init.body : JSON.stringify(body);
      return real(origin + path, { ...init, method, headers: changed, body: method === 'GET' ? null : (text ?? null) });
    };
    return await broken(call, send, keys);
  };
}

function operationOf(method: string, path: string): OperationId | undefined {
  const parts = path.split('/');
  const isRow = (row: { method: string; path: string }) => {
    const expected = row.path.split('/');
    if (row.method !== method || expected.length !== parts.length) return false;
    return expected.every((part, index) => part.startsWith('{') || part === parts[index]);
  };
  // `/v1/messages/folders/counts` is not the path of a parameter.
  return OPERATION_ROWS.find(isRow)?.id;
}

const isSuccess = ({ status }: Reply) => status >= 200 && status < 300;

// biome-ignore lint/suspicious/noExplicitAny: a body of any operation.
export const withBody = (reply: Reply, body: any): Reply => ({ ...reply, body, text: JSON.stringify(body) });

/** Breaks the successful replies of an operation. */
const breakReply =
  (operation: OperationId, change: (reply: Reply, call: Call) => Reply): (() => Break) =>
  () =>
  async (call, send) => {
    const reply = await send();
    return call.operation === operation && isSuccess(reply) ? change(reply, call) : reply;
  };

/** Changes the objects in a reply: the items of its list, or the reply itself. */
function eachObject(body: Reply['body'], change: (object: Record<string, unknown>) => object): unknown {
  const copy = structuredClone(body);
  const [name, list] = isListBody(copy) ? (Object.entries(copy)[0] ?? []) : [];
  if (name === undefined) return change(copy);
  return { ...copy, [name]: (list as Record<string, unknown>[]).map(change) };
}

const LISTS = [
  'webhooks',
  'workspaces',
  'inboxes',
  'domains',
  'messages',
  'threads',
  'drafts',
  'lists',
  'keys',
  'entries',
  'attachments',
];
const isListBody = (body: object) =>
  LISTS.includes(Object.keys(body)[0] ?? '') && Array.isArray(Object.values(body)[0]);

/** The fields without which nothing further could be created, or which each service chooses for itself. */
const NEEDED = [
  'id',
  'apiKey',
  'key',
  'email',
  'domain',
  'address',
  'threadId',
  'prefix',
  'entries',
  'messages',
  'direction',
];

const removableField = (object: object) => Object.keys(object).findLast((name) => !NEEDED.includes(name));

const withoutField = (object: Record<string, unknown>) => {
  const name = removableField(object);
  return Object.fromEntries(Object.entries(object).filter(([field]) => field !== name));
};

const renamedField = (object: Record<string, unknown>) => {
  const name = removableField(object);
  return Object.fromEntries(
    Object.entries(object).map(([field, value]) => [field === name ? `${field}2` : field, value]),
  );
};

const otherType = (object: Record<string, unknown>) => {
  const name = removableField(object);
  return name === undefined ? object : { ...object, [name]: typeof object[name] === 'string' ? 7 : 'text' };
};

const addedField = (object: Record<string, unknown>) => ({ ...object, verifyExtra: true });

/** The operations that answer with JSON. */
const WITH_JSON = OPERATION_ROWS.filter((row) => !('content' in row)).map(({ id }) => id);

const OBJECT_CHANGES = {
  'field missing': withoutField,
  'field renamed': renamedField,
  'wrong type': otherType,
  'field added': addedField,
};

const STATUS = 'status';

/** The changes of a reply: a wrong status, and those of `OBJECT_CHANGES`. */
const REPLY_CHANGES = [STATUS, ...Object.keys(OBJECT_CHANGES)] as const;

const changeReply = (kind: string, reply: Reply): Reply => {
  if (kind === STATUS) return { ...reply, status: reply.status === 201 ? 200 : 203 };
  return withBody(reply, eachObject(reply.body, OBJECT_CHANGES[kind as keyof typeof OBJECT_CHANGES]));
};

/** The operations take turns with the changes: each change with each operation would take hours. */
const replyBreaks: BrokenServer[] = WITH_JSON.flatMap((operation, index) =>
  REPLY_CHANGES.filter((_, turn) => index % REPLY_CHANGES.length === turn).map((kind) => ({
    name: `${kind}: ${operation}`,
    named: [operation],
    create: breakReply(operation, (reply) => changeReply(kind, reply)),
  })),
);

const headerBreaks: BrokenServer[] = (
  ['getMetrics', 'listWebhooks', 'createDraft', 'getMe', 'getRawMessage'] as const
).map((operation) => ({
  name: `content type: ${operation}`,
  named: [operation],
  create: breakReply(operation, (reply) => {
    const headers = new Headers(reply.headers);
    headers.set('content-type', 'text/html');
    return { ...reply, headers };
  }),
}));

const listNames = {
  listWebhooks: 'webhooks',
  listWorkspaces: 'workspaces',
  listInboxes: 'inboxes',
  listDomains: 'domains',
  listMessages: 'messages',
  listThreads: 'threads',
  listDrafts: 'drafts',
  listAllMessages: 'messages',
} as const;

const listBreaks: BrokenServer[] = (Object.entries(listNames) as [keyof typeof listNames, string][]).flatMap(
  ([operation, list]) => [
    {
      name: `order: ${operation}`,
      named: [operation],
      create: breakReply(operation, (reply) =>
        withBody(reply, { ...reply.body, [list]: reply.body[list].toReversed() }),
      ),
    },
    {
      name: `envelope: ${operation}`,
      named: [operation],
      create: breakReply(operation, (reply) => withBody(reply, { data: reply.body[list] })),
    },
    {
      name: `the last item is missing: ${operation}`,
      named: [operation],
      create: breakReply(operation, (reply) =>
        withBody(reply, { ...reply.body, [list]: reply.body[list].slice(0, -1) }),
      ),
    },
    {
      name: `an item twice: ${operation}`,
      named: [operation],
      create: breakReply(operation, (reply) =>
        withBody(reply, { ...reply.body, [list]: [...reply.body[list], ...reply.body[list].slice(0, 1)] }),
      ),
    },
  ],
);

/** The values of a secret, a password or a text that are shown wrongly, by the operation. */
const valueBreaks: BrokenServer[] = (
  [
    ['masked secret', 'listWebhooks', 'secret', () => 'whsec_********'],
    ['another secret', 'listWebhooks', 'secret', () => `whsec_${'A'.repeat(43)}=`],
    ['another secret', 'getWebhook', 'secret', () => `whsec_${'B'.repeat(43)}=`],
    ['echoed wrong', 'createWebhook', 'url', (value) => `${value}x`],
    ['echoed wrong', 'createDraft', 'subject', (value) => `${value}x`],
    ['echoed wrong', 'createList', 'name', (value) => `${value}x`],
    ['echoed wrong', 'createInbox', 'displayName', (value) => `${value}x`],
    ['echoed wrong', 'updateWebhook', 'isActive', (value) => !value],
    ['another id', 'getDraft', 'id', () => '00000000-0000-4000-8000-00000000000a'],
    ['another value', 'getWorkspace', 'name', (value) => `${value}x`],
    ['another value', 'listDrafts', 'plainBody', (value) => `${value}x`],
    ['another value', 'listMessages', 'subject', (value) => `${value}x`],
    ['another value', 'getMessage', 'plainBody', (value) => `${value}x`],
    ['another value', 'listWorkspaces', 'inboxCount', (value) => Number(value) + 1],
    ['another time', 'listWebhooks', 'createdAt', () => '2020-01-01T00:00:00.000Z'],
    ['another time', 'getInbox', 'createdAt', () => '2020-01-01T00:00:00.000Z'],
    ['another password', 'getInbox', 'imapPassword', (value) => `${value}x`],
  ] as const satisfies readonly (readonly [string, OperationId, string, (value: unknown) => unknown])[]
).map(([kind, operation, field, change]) => ({
  name: `${kind}: ${field} of ${operation}`,
  named: [operation],
  create: breakReply(operation, (reply) =>
    withBody(
      reply,
      eachObject(reply.body, (object) => ({
        ...object,
        [field]: (change as (value: unknown) => unknown)(object[field]),
      })),
    ),
  ),
}));

const DELETES = OPERATION_ROWS.filter(({ method, id }) => method === 'DELETE' && id !== 'deleteTenant').map(
  ({ id }) => id,
);

/** Deletes that change nothing but answer as if they did. */
const notDeleted: BrokenServer[] = DELETES.map((operation) => ({
  name: `not deleted: ${operation}`,
  named: [operation],
  create: () => async (call, send) => {
    if (call.operation !== operation || !call.key.startsWith(operation === 'deleteMessage' ? 'ak_' : 'tk_')) {
      return await send();
    }
    const id = decodeURIComponent(call.path.split('/').at(-1) ?? '');
    const path = READS_BEFORE_DELETE[operation]?.(call.path) ?? call.path;
    const read = await send({ method: 'GET', path });
    if (!isSuccess(read) || !read.text.includes(id)) return await send();
    const named =
      operation === 'deleteDomain' ? { domain: id } : operation === 'deleteInboxAddress' ? { address: id } : { id };
    return withBody(read, {
      ...(operation === 'deleteWorkspaceKey' ? { revoked: true } : { deleted: true }),
      ...named,
    });
  },
}));

/** The path that shows whether something exists, where it is not the path of the thing itself. */
const READS_BEFORE_DELETE: { readonly [Id in OperationId]?: (path: string) => string } = {
  deleteWorkspaceKey: (path) => path.replace(/\/[^/]+$/, ''),
  deleteInboxAddress: (path) => path.replace(/\/addresses\/.*/, ''),
  deleteMessage: (path) => path.replace(/\/[^/]+$/, ''),
};

/** Updates that are answered, but not kept. */
const notUpdated: BrokenServer[] = (['updateWebhook', 'updateDraft', 'updateInbox', 'updateMessage'] as const).map(
  (operation) => ({
    name: `not persisted: ${operation}`,
    named: [operation],
    create: () => async (call, send) => {
      if (call.operation !== operation) return await send();
      const isMessage = operation === 'updateMessage';
      const read = await send({ method: 'GET', path: isMessage ? call.path.replace(/\/[^/]+$/, '') : call.path });
      const found = isMessage
        ? read.body.messages?.find(({ id }: { id: string }) => call.path.endsWith(id))
        : read.body;
      const old = { ...read, body: found ?? {} };
      const reply = await send();
      if (!isSuccess(reply) || !isSuccess(old)) return reply;
      const {
        url,
        isActive,
        events,
        subject,
        plainBody,
        htmlBody,
        to,
        displayName,
        metadata,
        isRead,
        isStarred,
        isArchived,
      } = old.body;
      const fields = {
        updateWebhook: { url, isActive, events },
        updateDraft: { subject, plainBody, htmlBody, to },
        updateInbox: { displayName, metadata },
        updateMessage: { isRead, isStarred, isArchived },
      }[operation];
      await send({ body: fields });
      return reply;
    },
  }),
);

/** Creates that are answered, but not kept. */
const notCreated: BrokenServer[] = (
  ['createWebhook', 'createDraft', 'createList', 'createDomain', 'createListEntry'] as const
).map((operation) => ({
  name: `not persisted: ${operation}`,
  named: [operation],
  create: () => async (call, send) => {
    const reply = await send();
    if (call.operation !== operation || !isSuccess(reply)) return reply;
    const id = operation === 'createDomain' ? reply.body.domain : reply.body.id;
    // What was created later is kept, so that the sequence has something to work on.
    await send({ method: 'DELETE', path: `${call.path}/${id}` });
    return reply;
  },
}));

/** The begin of the names of the servers that show what was there before the run. */
export const OLD_LEAK = 'leak of what the other tenant had before the run';

const TENANT_LISTS = [
  ['listWebhooks', 'webhooks'],
  ['listWorkspaces', 'workspaces'],
  ['listInboxes', 'inboxes'],
  ['listDomains', 'domains'],
  ['listAllMessages', 'messages'],
] as const;

/** Lists that show what belonged to the other tenant before the run, and nothing that the run has created. */
const oldLeaks: BrokenServer[] = TENANT_LISTS.map(([operation, list]) => ({
  name: `${OLD_LEAK}: ${operation}`,
  named: [operation],
  create: () => {
    let old: unknown[] | undefined;
    return async (call, send, { tenant, otherTenant }) => {
      old ??= (await send({ key: otherTenant, path: `/v1/${list}`, method: 'GET' })).body[list] as unknown[];
      const reply = await send();
      const isFiltered = ['workspace', 'inboxId'].some((name) => call.query.has(name));
      if (call.operation !== operation || call.key !== tenant || isFiltered || !isSuccess(reply)) return reply;
      return withBody(reply, { ...reply.body, [list]: [...reply.body[list], ...old] });
    };
  },
}));

/** Lists that show what belongs to the other tenant. */
const tenantLeaks: BrokenServer[] = TENANT_LISTS.map(([operation, list]) => ({
  name: `leak of the other tenant: ${operation}`,
  named: [operation],
  create:
    () =>
    async (call, send, { tenant, otherTenant }) => {
      const reply = await send();
      if (call.operation !== operation || call.key !== tenant || !isSuccess(reply)) return reply;
      const other = await send({
        key: otherTenant,
        path: operation === 'listAllMessages' ? `${call.path}?limit=200` : call.path,
      });
      return withBody(reply, { ...reply.body, [list]: [...reply.body[list], ...other.body[list]] });
    },
}));

/** Counts of a tenant in which the other tenant is counted too. */
const countLeaks: BrokenServer[] = (['countFolders', 'getMetrics'] as const).map((operation) => ({
  name: `leak of the other tenant by count: ${operation}`,
  named: [operation],
  create:
    () =>
    async (call, send, { tenant, otherTenant }) => {
      const reply = await send();
      if (call.operation !== operation || call.key !== tenant || call.query.size > 0) return reply;
      return withBody(reply, addNumbers(reply.body, (await send({ key: otherTenant })).body));
    },
}));

/** Adds the numbers that two values of the same form have at the same places. */
function addNumbers(one: unknown, other: unknown): unknown {
  if (typeof one === 'number') return one + Number(other);
  if (typeof one !== 'object' || one === null) return one;
  return Object.fromEntries(
    Object.entries(one).map(([name, value]) => [name, addNumbers(value, (other as Record<string, unknown>)[name])]),
  );
}

/** Lists and counts that ignore the workspace or the inbox of the key, or a filter. */
const scopeLeaks: BrokenServer[] = (
  [
    'listWebhooks',
    'listInboxes',
    'listDomains',
    'listAllMessages',
    'countFolders',
    'getMetrics',
    'listWorkspaces',
  ] as const
).flatMap((operation) => [
  {
    name: `leak to a workspace key: ${operation}`,
    named: [operation],
    create:
      () =>
      async (call, send, { tenant }) =>
        await send(
          call.operation === operation && call.key.startsWith('wk_') && !call.key.includes('acme')
            ? { key: tenant }
            : {},
        ),
  } satisfies BrokenServer,
  ...(['listWorkspaces'].includes(operation)
    ? []
    : [
        {
          name: `filter ignored: ${operation}`,
          named: [operation],
          create: () => async (call, send) =>
            await send(call.operation === operation && call.query.has('workspace') ? { path: call.path } : {}),
        } satisfies BrokenServer,
      ]),
]);

/** The operations within an inbox that a key of another inbox, or of another tenant, can reach. */
const idLeaks: BrokenServer[] = OPERATION_ROWS.filter(
  ({ path, method, id }) =>
    path.includes('{') && (method === 'GET' || /^(?:update|send|create|add)/.test(id)) && id !== 'verifyDomain',
).map(({ id: operation }, index) => {
  const isInbox = index % 2 === 0 && /^(?:get|list|send|create)/.test(operation) && operation !== 'listWorkspaceKeys';
  const tier = isInbox && !/Webhook|Workspace|Domain/.test(operation) ? 'ak_' : 'tk_globex';
  return {
    name: `leak by id to ${tier === 'ak_' ? 'another inbox' : 'the other tenant'}: ${operation}`,
    named: [operation],
    create:
      () =>
      async (call, send, { tenant }) => {
        const reply = await send();
        const mayNot = call.operation === operation && call.key.startsWith(tier) && reply.status === 404;
        return mayNot && !call.path.includes('00000000-') ? await send({ key: tenant }) : reply;
      },
  } satisfies BrokenServer;
});

/** The operations that answer also without a valid key. */
const openOperations: BrokenServer[] = (
  ['listWebhooks', 'getMe', 'createInbox', 'deleteWebhook', 'getMetrics', 'listDomains'] as const
).map((operation) => ({
  name: `no key needed: ${operation}`,
  named: [operation],
  create:
    () =>
    async (call, send, { tenant }) => {
      const reply = await send();
      return call.operation === operation && reply.status === 401 ? await send({ key: tenant }) : reply;
    },
}));

/** What goes wrong over several requests. */
const furtherBreaks: BrokenServer[] = [
  {
    name: 'the old key of an inbox stays valid everywhere but on /v1/me',
    named: ['rotateInboxKey'],
    create: () => {
      const newKeys = new Map<string, string>();
      const keys = new Map<string, string>();
      return async (call, send) => {
        const isOld = call.operation !== 'getMe' && newKeys.has(call.key);
        const reply = await send(isOld ? { key: newKeys.get(call.key) ?? '' } : {});
        if (call.operation === 'createInbox' && reply.body.apiKey) keys.set(reply.body.id, reply.body.apiKey);
        const inboxId = call.path.split('/')[3] ?? '';
        if (call.operation === 'rotateInboxKey' && isSuccess(reply))
          newKeys.set(keys.get(inboxId) ?? '', reply.body.key);
        return reply;
      };
    },
  },
  {
    name: 'the old key of an inbox is refused only at first',
    named: ['rotateInboxKey'],
    create: () => {
      const refused = new Map<string, number>();
      const newKeys = new Map<string, string>();
      const keys = new Map<string, string>();
      return async (call, send) => {
        const count = refused.get(call.key) ?? 0;
        refused.set(call.key, count + 1);
        const isAliveAgain = newKeys.has(call.key) && count > 58;
        const reply = await send(isAliveAgain ? { key: newKeys.get(call.key) ?? '' } : {});
        if (call.operation === 'createInbox' && reply.body.apiKey) keys.set(reply.body.id, reply.body.apiKey);
        if (call.operation === 'rotateInboxKey' && isSuccess(reply)) {
          const old = keys.get(call.path.split('/')[3] ?? '') ?? '';
          newKeys.set(old, reply.body.key);
          refused.set(old, 0);
        }
        return reply;
      };
    },
  },
  {
    name: 'the old key of an inbox stays valid for 2 s',
    named: ['rotateInboxKey'],
    create: () => {
      const replaced = new Map<string, { readonly key: string; readonly untilMs: number }>();
      const keys = new Map<string, string>();
      return async (call, send) => {
        const { key, untilMs = 0 } = replaced.get(call.key) ?? {};
        const reply = await send(key !== undefined && performance.now() < untilMs ? { key } : {});
        if (call.operation === 'createInbox' && reply.body.apiKey) keys.set(reply.body.id, reply.body.apiKey);
        if (call.operation === 'rotateInboxKey' && isSuccess(reply)) {
          const old = keys.get(call.path.split('/')[3] ?? '') ?? '';
          replaced.set(old, { key: reply.body.key, untilMs: performance.now() + 2000 });
        }
        return reply;
      };
    },
  },
  {
    name: 'the IMAP password changes with the rotation',
    named: ['rotateInboxKey'],
    create: () => {
      const rotated = new Set<string>();
      return async (call, send) => {
        const reply = await send();
        const inboxId = call.path.split('/')[3] ?? '';
        if (call.operation === 'rotateInboxKey' && isSuccess(reply)) rotated.add(inboxId);
        if (call.operation !== 'getInbox' || !rotated.has(inboxId) || !isSuccess(reply)) return reply;
        const imapPassword = `${reply.body.imapPassword}x`;
        return withBody(reply, { ...reply.body, imapPassword, imap: { ...reply.body.imap, password: imapPassword } });
      };
    },
  },
  {
    name: 'mail is lost',
    named: ['sendMessage'],
    create: () => async (call, send) => {
      if (call.operation !== 'sendMessage') return await send();
      return await send({ body: { ...call.body, to: `nobody-at-all@verify.example` } });
    },
  },
  {
    name: 'a reply is not sent',
    named: ['replyToMessage'],
    create: () => async (call, send) => {
      if (call.operation !== 'replyToMessage' || call.path.includes('00000000-')) return await send();
      const { body } = await send({ path: '/v1/me', method: 'GET' });
      const reply = {
        id: '00000000-0000-4000-8000-00000000000b',
        threadId: '00000000-0000-4000-8000-00000000000c',
        status: 'sent',
        messageId: '<a@b.example>',
      };
      const headers = new Headers({ 'content-type': 'application/json' });
      return body.tier === 'tenant' && call.key.startsWith('tk_acme')
        ? withBody({ status: 200, headers, text: '', body: {} }, reply)
        : await send();
    },
  },
  {
    name: 'a webhook loses its workspace',
    named: ['createWebhook'],
    create: () => async (call, send) => {
      if (call.operation !== 'createWebhook' || !call.key.startsWith('tk_acme')) return await send();
      const { workspaceId: _, ...body } = call.body ?? {};
      return await send({ body });
    },
  },
];

/** Every server that is broken on purpose. */
export const BROKEN_SERVERS: readonly BrokenServer[] = [
  ...replyBreaks,
  ...headerBreaks,
  ...listBreaks,
  ...valueBreaks,
  ...notDeleted,
  ...notUpdated,
  ...notCreated,
  ...oldLeaks,
  ...tenantLeaks,
  ...countLeaks,
  ...scopeLeaks,
  ...idLeaks,
  ...openOperations,
  ...furtherBreaks,
];
