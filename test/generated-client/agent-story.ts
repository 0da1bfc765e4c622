import createClient, { type Client } from 'openapi-fetch';
import { expect } from 'vitest';
import type { paths } from './schema.d.ts';

type Service = Client<paths>;

/** The keys at the start of the story: of a workspace, and of the inbox of a correspondent. */
export interface StartKeys {
  readonly workspace: string;
  readonly customer: string;
}

/**
 * An agent's day through a client that is generated from the OpenAPI document: it gets an inbox, answers the mail that
 * comes, drafts and sends one of its own, and goes on with a new key.
 */
export async function tellAgentStory(baseUrl: string, keys: StartKeys): Promise<void> {
  const withKey = (key: string): Service => createClient<paths>({ baseUrl, headers: { 'X-API-Key': key } });
  const workspace = withKey(keys.workspace);
  const customer = await openOwnInbox(withKey(keys.customer));

  const scout = await createInbox(workspace, 'scout');
  const path = { id: scout.id };
  const agent = withKey(scout.apiKey);
  expect((await agent.GET('/v1/me')).data).toMatchObject({ tier: 'inbox', inboxId: scout.id, email: scout.email });

  await write(customer, scout.email);
  const mail = await readNewest(agent, scout.id);
  expect(mail).toMatchObject({ subject: 'Where is my order?', isRead: true, direction: 'inbound' });
  await reply(agent, scout.id, mail.id);
  expect(await readNewest(customer.service, customer.id)).toMatchObject({
    subject: 'Re: Where is my order?',
    inReplyTo: mail.messageIdHeader,
  });

  const domain = await workspace.POST('/v1/domains', { body: { domain: 'scout.example' } });
  expect(domain.data).toMatchObject({ status: 'pending', inboundEnabled: false, verifiedAt: null });
  expect(domain.data?.dnsRecords.at(-1)).toMatchObject({ type: 'CNAME', name: 'bounce.scout.example' });
  await findInTenantWideList(workspace, scout.id, mail.id);
  await draftAndSend(agent, scout.id, customer.email);
  expect(await readNewest(customer.service, customer.id)).toMatchObject({ subject: 'It is on its way' });
  const thread = await agent.GET('/v1/inboxes/{id}/threads/{threadId}', {
    params: { path: { ...path, threadId: mail.threadId } },
  });
  expect(thread.data?.messageCount).toBe(2);

  const rotated = await workspace.POST('/v1/inboxes/{id}/keys', { params: { path } });
  const refused = await agent.GET('/v1/inboxes/{id}/messages', { params: { path } });
  expect(refused.response.status).toBe(401);
  expect(refused.error?.code).toBe('UNAUTHORIZED');
  const renewed = withKey(rotated.data?.key ?? '');
  const sent = await renewed.GET('/v1/inboxes/{id}/messages', { params: { path, query: { direction: 'outbound' } } });
  expect(sent.data?.messages.map(({ subject }) => subject)).toEqual(['It is on its way', 'Re: Where is my order?']);
}

interface OwnInbox {
  readonly service: Service;
  readonly id: string;
  readonly email: string;
}

/** Finds the inbox that a key speaks for. */
async function openOwnInbox(service: Service): Promise<OwnInbox> {
  const { data } = await service.GET('/v1/me');
  if (typeof data?.inboxId !== 'string' || data.email === null) throw new Error('This is no key of an inbox.');
  return { service, id: data.inboxId, email: data.email };
}

async function createInbox(service: Service, username: string) {
  const { data, response } = await service.POST('/v1/inboxes', { body: { username, displayName: 'Scout' } });
  expect(response.status).toBe(201);
  if (!data || !('apiKey' in data)) throw new Error('There is such an inbox already.');
  return data;
}

async function write({ service, id }: OwnInbox, to: string): Promise<void> {
  const { data } = await service.POST('/v1/inboxes/{id}/send', {
    params: { path: { id } },
    body: { to, subject: 'Where is my order?', plainBody: 'I ordered a week ago.', verified: true },
  });
  expect(data?.status).toBe('sent');
}

/** Reads the latest message that came, whole, as an agent would after it saw the list. */
async function readNewest(service: Service, id: string) {
  const { data: list } = await service.GET('/v1/inboxes/{id}/messages', {
    params: { path: { id }, query: { direction: 'inbound', limit: 1 } },
  });
  const messageId = list?.messages[0]?.id ?? '';
  const { data, error } = await service.GET('/v1/inboxes/{id}/messages/{messageId}', {
    params: { path: { id, messageId } },
  });
  if (!data) throw new Error(error.error);
  return data;
}

async function reply(service: Service, id: string, messageId: string): Promise<void> {
  const { data } = await service.POST('/v1/inboxes/{id}/reply/{messageId}', {
    params: { path: { id, messageId } },
    body: { plainBody: 'I am looking into it.' },
  });
  expect(data?.status).toBe('sent');
}

/** Finds a mail as a page of a whole workspace shows it. */
async function findInTenantWideList(service: Service, inboxId: string, messageId: string): Promise<void> {
  const { data } = await service.GET('/v1/messages', {
    params: { query: { inboxId, folder: 'inbox', group: 'thread', limit: 500 } },
  });
  const row = data?.messages.find(({ id }) => id === messageId);
  expect(row?.to).toBe('scout@mailbox.test');
  expect([row?.inboxUsername, row?.snippet, row?.threadCount]).toEqual(['scout', 'I ordered a week ago.', 2]);
  const counts = await service.GET('/v1/messages/folders/counts', { params: { query: { inboxId } } });
  expect(counts.data).toMatchObject({ inbox: { unread: 0, total: 1 }, sent: { total: 1 } });
}

async function draftAndSend(service: Service, id: string, to: string): Promise<void> {
  const { data: draft } = await service.POST('/v1/inboxes/{id}/drafts', {
    params: { path: { id } },
    body: { to: `${to}, half ty`, subject: 'It is on' },
  });
  const path = { id, draftId: draft?.id ?? '' };
  const changed = await service.PATCH('/v1/inboxes/{id}/drafts/{draftId}', {
    params: { path },
    body: { to: `"Customer, The" <${to}>`, subject: 'It is on its way', plainBody: 'It comes tomorrow.' },
  });
  expect(changed.data).toMatchObject({ to: [`"Customer, The" <${to}>`], subject: 'It is on its way' });
  const sent = await service.POST('/v1/inboxes/{id}/drafts/{draftId}/send', { params: { path } });
  expect(sent.data?.draftId).toBe(draft?.id);
  const again = await service.POST('/v1/inboxes/{id}/drafts/{draftId}/send', { params: { path } });
  expect(again.response.status).toBe(404);
}

/** What the types must refuse: were they `any`, the compiler would complain of these lines. */
export function misuse(service: Service): unknown[] {
  return [
    // @ts-expect-error there is no such path
    service.GET('/v1/inbox'),
    // @ts-expect-error the path has another parameter
    service.GET('/v1/inboxes/{id}', { params: { path: { inboxId: 'x' } } }),
    // @ts-expect-error the body has no subject
    service.POST('/v1/inboxes/{id}/send', { params: { path: { id: 'x' } }, body: { to: 'ada@example.com' } }),
    // @ts-expect-error there is no such direction
    service.GET('/v1/inboxes/{id}/messages', { params: { path: { id: 'x' }, query: { direction: 'up' } } }),
  ];
}
