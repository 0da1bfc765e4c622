import type { AssumptionId } from '../../src/contract/behaviours.ts';
import type { OperationId } from '../../src/contract/operations.ts';
import type { Reply } from '../../src/verify/verify-session.ts';
import { type Break, type Call, withBody } from './broken-servers.ts';

type SendChanged = Parameters<Break>[1];

const isSuccess = ({ status }: Reply) => status >= 200 && status < 300;

/** Accepts what an operation must refuse, or refuses what it must accept, for some requests. */
const otherVerdict =
  (operation: OperationId, isTried: (call: Call) => boolean, accepted: (call: Call) => object): (() => Break) =>
  () =>
  async (call, send) => {
    if (call.operation !== operation || !isTried(call)) return await send();
    const reply = await send();
    return await send({ body: isSuccess(reply) ? {} : accepted(call) });
  };

const sendMail = (isTried: (body: Call['body']) => boolean) =>
  otherVerdict(
    'sendMessage',
    ({ body }) => body !== undefined && isTried(body),
    ({ body }) => ({ ...body, to: 'dana@verify.example', subject: 'x', plainBody: 'x' }),
  );

/** Shows to an operation what it showed before, if it is not found any more. */
const remembering = (operation: OperationId): (() => Break) => {
  return () => {
    const seen = new Map<string, Reply>();
    return async (call, send) => {
      const reply = await send();
      if (call.operation !== operation) return reply;
      if (isSuccess(reply)) seen.set(call.path, reply);
      return reply.status === 404 ? (seen.get(call.path) ?? reply) : reply;
    };
  };
};

/** Changes the successful replies of an operation. */
const changed =
  (operation: OperationId, change: (reply: Reply, call: Call, send: SendChanged) => Reply): (() => Break) =>
  () =>
  async (call, send) => {
    const reply = await send();
    return call.operation === operation && isSuccess(reply) ? change(reply, call, send) : reply;
  };

/** Answers as if something new had been created. */
const created = (operation: OperationId): (() => Break) => {
  return () => async (call, send) => {
    const reply = await send();
    return call.operation === operation && reply.status === 409 ? { ...reply, status: 201 } : reply;
  };
};

/** Servers that do otherwise than an assumption for which there is no experiment, by the assumption. */
export const TOLD_SERVERS: { readonly [Id in AssumptionId]?: () => Break } = {
  'errors.statuses': () => async (_, send) => {
    const reply = await send();
    return reply.status === 400 ? { ...reply, status: 422 } : reply;
  },
  'tenants.create.workspace': changed('listWorkspaces', (reply, { key }) =>
    /^tk_(?:acme|globex)/.test(key) ? reply : withBody(reply, { ...reply.body, workspaces: [] }),
  ),
  'tenants.delete.cascade': () => async (call, send) => {
    if (call.operation !== 'deleteTenant') return await send();
    return withBody(await send({ method: 'GET', path: '/health' }), {
      deleted: true,
      id: call.path.split('/').at(-1),
    });
  },
  'domains.create.taken': created('createDomain'),
  'inboxes.delete.kept': remembering('listMessages'),
  'inboxes.addresses.delete.primary': () => async (call, send) => {
    if (call.operation !== 'deleteInboxAddress') return await send();
    const inbox = await send({ method: 'GET', path: call.path.replace(/\/addresses\/.*/, '') });
    const isPrimary = inbox.body.email === decodeURIComponent(call.path.split('/').at(-1) ?? '');
    return isPrimary ? withBody({ ...inbox, status: 409 }, { error: 'x', code: 'CONFLICT' }) : await send();
  },
  'messages.sent.is-read': changed('listMessages', (reply) => {
    const messages = (reply.body.messages as { direction: string; isRead: boolean }[]).map((message) => ({
      ...message,
      isRead: message.direction === 'outbound' ? !message.isRead : message.isRead,
    }));
    return withBody(reply, { ...reply.body, messages });
  }),
  'messages.list.pagination': changed('listMessages', (reply, { query }) => {
    const { pagination } = reply.body;
    return query.has('offset')
      ? withBody(reply, { ...reply.body, pagination: { ...pagination, total: pagination.total + 1 } })
      : reply;
  }),
  'messages.raw': changed('getRawMessage', (reply) => ({
    ...reply,
    text: reply.text.replace(/^Message-ID:.*\r?\n/im, ''),
  })),
  'sending.required': sendMail((body) => body.plainBody === undefined),
  'sending.empty-subject': sendMail((body) => body.subject === ''),
  'sending.addresses': sendMail((body) => typeof body.to === 'string' && body.to !== '' && !body.to.includes('@')),
  'sending.copies': () => async (call, send) => {
    const isWithCopy = call.operation === 'sendMessage' && call.body?.cc !== undefined;
    return await send(isWithCopy ? { body: { ...call.body, cc: undefined } } : {});
  },
  'lists.entries.taken': created('createListEntry'),
};
