import type { TenantState } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import type { Place, Turn } from './turn.ts';

type Inbox = TenantState['inboxes'][number] & Required<Omit<Place, 'workspaceId'>>;

const NAMES = ['ada', 'ben', 'cleo', 'helpdesk', 'info'];
const DOMAINS = ['one.test', 'two.test', 'sales.fail.test', 'acme.test', 'globex.test'];
const OUTSIDE = [
  ...['dana@customer.test', 'Dana Reyes <dana@customer.test>', 'nobody@mailbox.test'],
  ...['success@simulator.test', 'bounce@simulator.test', 'relay-error@simulator.test'],
  ...['pause@simulator.test', 'resume@simulator.test', 'resume@simulator.test'],
];
const SENDING = [200, 400, 403, 502];

/** The commands of a sequence: each does one thing to an item that it picks, and updates the model. */
export const COMMANDS: Readonly<Record<string, (turn: Turn) => Promise<void>>> = {
  async reset(turn) {
    turn.service.mailbox.reset();
    turn.state = turn.service.mailbox.snapshot();
    turn.journal.push('reset');
    turn.tree.become(turn.start);
  },

  async createTenant(turn) {
    const reply = await turn.call('createTenant', {}, { json: { name: 'Initech' }, expected: [201] });
    if (!reply) return;
    const { id, defaultWorkspaceId, apiKey } = reply.json;
    turn.tree.add('tenant', id, null);
    turn.tree.add('workspace', defaultWorkspaceId, id);
    turn.tree.add('key', apiKey, id);
  },
  async deleteTenant(turn) {
    const tenant = turn.pick(turn.state.tenants);
    if (!tenant || turn.chance() % 4 > 0) return;
    const reply = await turn.call(
      'deleteTenant',
      { tenantId: tenant.id },
      { params: { id: tenant.id }, expected: [200] },
    );
    if (reply) turn.tree.remove(tenant.id);
  },

  async createWorkspace(turn) {
    const tenant = turn.pick(turn.state.tenants);
    if (!tenant) return;
    const json = { name: turn.pick(NAMES) };
    const isThere = tenant.workspaces.some(({ slug }) => slug === json.name);
    const call = { json, expected: [isThere ? 409 : 201] };
    const reply = await turn.call('createWorkspace', { tenantId: tenant.id }, call);
    if (reply) turn.tree.add('workspace', reply.json.id, tenant.id);
  },
  async deleteWorkspace(turn) {
    const workspace = pickWorkspace(turn);
    if (!workspace) return;
    const expected = [workspace.isDefault ? 409 : 200];
    const reply = await turn.call('deleteWorkspace', placeOf(workspace), { params: { id: workspace.id }, expected });
    if (reply) turn.tree.remove(workspace.id);
  },

  async createInbox(turn) {
    const workspace = pickWorkspace(turn);
    if (!workspace) return;
    const json = {
      ...(turn.chance() % 4 > 0 && { username: turn.pick(NAMES) }),
      ...(turn.chance() % 2 === 0 && { domain: turn.pick(DOMAINS) }),
      ...(turn.chance() % 2 === 0 && { workspaceId: workspace.id }),
    };
    const query = turn.chance() % 4 === 0 ? { query: { strict: true } } : {};
    const expected = [200, 201, 400, 403, 409];
    const reply = await turn.call('createInbox', placeOf(workspace), { json, ...query, expected });
    if (reply?.status !== 201) return expectOwn(turn, reply?.json.id, workspace.tenantId);
    const { id, workspaceId, canonicalEmail, apiKey } = reply.json;
    expect(turn.tree.parentOf(workspaceId)).toBe(workspace.tenantId);
    turn.tree.add('inbox', id, workspaceId);
    turn.tree.add('address', canonicalEmail, id);
    turn.tree.add('key', apiKey, id);
  },
  async updateInbox(turn) {
    await inInbox(turn, async (inbox, params) => {
      const json = { displayName: turn.pick([...NAMES, null]), metadata: { seen: true } };
      await turn.call('updateInbox', inbox, { params, json, expected: [200] });
    });
  },
  async deleteInbox(turn) {
    await inInbox(turn, async (inbox, params) => {
      const reply = await turn.call('deleteInbox', inbox, { params, expected: [200] });
      if (reply) turn.tree.deleteInbox(inbox.id);
    });
  },
  async addInboxAddress(turn) {
    await inInbox(turn, async (inbox, params) => {
      const email = `${turn.pick(NAMES)}@${turn.chance() % 2 === 0 ? 'mailbox.test' : turn.pick(DOMAINS)}`;
      const isTaken = turn.tree.has(email);
      const json = { email, ...(turn.chance() % 2 === 0 && { primary: false }) };
      const expected = email.endsWith('@mailbox.test') ? [isTaken ? 409 : 201] : [201, 400, 409];
      const reply = await turn.call('addInboxAddress', inbox, { params, json, expected });
      if (reply) turn.tree.add('address', email, inbox.id);
    });
  },
  async deleteInboxAddress(turn) {
    const isCanonical = (inbox: Inbox, address: string) => address === `${inbox.username}@${inbox.domain}`;
    const all = inboxesOf(turn).flatMap((inbox) => addressesOf(inbox).map((address) => ({ inbox, address })));
    const picked = turn.pick(preferred(all, ({ inbox, address }) => !isCanonical(inbox, address), turn));
    if (!picked) return;
    const { inbox, address } = picked;
    const call = { params: { id: inbox.id, address }, expected: [isCanonical(inbox, address) ? 409 : 200] };
    if (await turn.call('deleteInboxAddress', inbox, call)) turn.tree.remove(address);
  },
  async rotateInboxKey(turn) {
    await inInbox(turn, async (inbox, params) => {
      const previous = inbox.tenant.apiKeys.find(({ ownerId }) => ownerId === inbox.id);
      const reply = await turn.call('rotateInboxKey', inbox, { params, expected: [201] });
      if (!reply) return;
      turn.tree.removeBelow(inbox.id, 'key');
      turn.tree.add('key', reply.json.key, inbox.id);
      const refused = await turn.service.send('GET', '/v1/me', { key: previous?.key ?? '' });
      expect(refused.status).toBe(401);
    });
  },

  async createWorkspaceKey(turn) {
    const workspace = pickWorkspace(turn);
    if (!workspace) return;
    const call = { params: { id: workspace.id }, json: {}, expected: [201] };
    const reply = await turn.call('createWorkspaceKey', placeOf(workspace), call);
    if (reply) turn.tree.add('key', reply.json.key, workspace.id);
  },
  async deleteWorkspaceKey(turn) {
    const workspace = pickWorkspace(turn);
    const key = turn.pick(workspace?.tenant.apiKeys.filter(({ ownerId }) => ownerId === workspace.id) ?? []);
    if (!workspace || !key) return;
    const params = { id: workspace.id, key_id: key.id };
    const reply = await turn.call('deleteWorkspaceKey', placeOf(workspace), { params, expected: [200] });
    if (reply) turn.tree.remove(key.key);
  },

  async createDomain(turn) {
    const workspace = pickWorkspace(turn);
    const domain = turn.pick(DOMAINS) ?? '';
    if (!workspace) return;
    const isThere = workspace.tenant.domains.some((row) => row.domain === domain);
    const isSelected = turn.chance() % 2 === 0;
    const json = { domain, ...(isSelected && { workspaceId: workspace.id }) };
    const expected = [isThere ? 409 : 201, ...(isSelected ? [403] : [])];
    const reply = await turn.call('createDomain', placeOf(workspace), { json, expected });
    if (reply) turn.tree.add('domain', reply.json.id, reply.json.workspaceId ?? workspace.tenantId);
  },
  async verifyDomain(turn) {
    const domain = turn.pick(domainsOf(turn));
    if (!domain) return;
    const isTaken = turn.state.tenants.some(
      ({ id, domains }) => id !== domain.tenantId && domains.some((other) => isVerified(other, domain.domain)),
    );
    // A domain of that name is never found verified, so there is nothing to take.
    const expected = [isTaken && !domain.domain.endsWith('.fail.test') ? 409 : 200];
    await turn.call('verifyDomain', domain, { params: { domain: domain.domain }, expected });
  },
  async deleteDomain(turn) {
    const domain = turn.pick(domainsOf(turn));
    const params = { domain: domain?.domain ?? '' };
    const reply = domain && (await turn.call('deleteDomain', domain, { params, expected: [200] }));
    if (domain && reply) turn.tree.remove(domain.id);
  },

  async createWebhook(turn) {
    const tenant = turn.pick(turn.state.tenants);
    if (!tenant) return;
    const json = { url: 'https://agent.example/hook', events: ['message.received'] };
    const reply = await turn.call('createWebhook', { tenantId: tenant.id }, { json, expected: [201] });
    if (reply) turn.tree.add('webhook', reply.json.id, tenant.id);
  },
  async createWorkspaceWebhook(turn) {
    const workspace = pickWorkspace(turn);
    if (!workspace) return;
    const json = { url: 'https://agent.example/hook', events: ['message.sent'] };
    const call = { json, expected: [201] };
    const reply = await turn.call('createWebhook', { workspaceId: workspace.id }, call);
    if (reply) turn.tree.add('webhook', reply.json.id, workspace.id);
  },
  async updateWebhook(turn) {
    const webhook = turn.pick(webhooksOf(turn));
    const call = { params: { id: webhook?.id ?? '' }, json: { isActive: false }, expected: [200] };
    if (webhook) await turn.call('updateWebhook', placeOf(webhook), call);
  },
  async deleteWebhook(turn) {
    const webhook = turn.pick(webhooksOf(turn));
    if (!webhook) return;
    const call = { params: { id: webhook.id }, expected: [200] };
    if (await turn.call('deleteWebhook', placeOf(webhook), call)) turn.tree.remove(webhook.id);
  },

  async sendMessage(turn) {
    await inInbox(turn, async (inbox, params) => {
      const json = { to: recipients(turn), subject: 'Hello', plainBody: 'Hi', verified: turn.chance() % 3 > 0 };
      expectDelivered(turn, inbox, await turn.call('sendMessage', inbox, { params, json, expected: SENDING }));
    });
  },
  async replyToMessage(turn) {
    await inMessage(turn, async (inbox, params) => {
      const json = { plainBody: 'Thank you' };
      expectDelivered(turn, inbox, await turn.call('replyToMessage', inbox, { params, json, expected: SENDING }));
    });
  },
  async replyAllToMessage(turn) {
    await inMessage(turn, async (inbox, params) => {
      const json = { htmlBody: '<p>Thank you all</p>' };
      expectDelivered(turn, inbox, await turn.call('replyAllToMessage', inbox, { params, json, expected: SENDING }));
    });
  },
  async forwardMessage(turn) {
    await inMessage(turn, async (inbox, params) => {
      const json = { to: recipients(turn) };
      expectDelivered(turn, inbox, await turn.call('forwardMessage', inbox, { params, json, expected: SENDING }));
    });
  },
  async getMessage(turn) {
    await inMessage(turn, async (inbox, params) => {
      const reply = await turn.call('getMessage', inbox, { params, expected: [200] });
      if (reply) expect(reply.json.isRead).toBe(true);
    });
  },
  async getRawMessage(turn) {
    await inMessage(turn, async (inbox, params) => {
      await turn.call('getRawMessage', inbox, { params, expected: [200] });
    });
  },
  async updateMessage(turn) {
    await inMessage(turn, async (inbox, params) => {
      const json = { [turn.pick(['isRead', 'isStarred', 'isArchived']) ?? '']: turn.chance() % 2 === 0 };
      await turn.call('updateMessage', inbox, { params, json, expected: [200] });
    });
  },
  async deleteMessage(turn) {
    await inMessage(turn, async (inbox, params) => {
      const reply = await turn.call('deleteMessage', inbox, { params, expected: [200] });
      if (!reply) return;
      expect((await turn.call('getMessage', inbox, { params, expected: [404] }))?.status).toBeUndefined();
      if (turn.chance() % 2 === 0) return;
      const again = await turn.call('deleteMessage', inbox, { params, expected: [200] });
      if (again) turn.tree.removeMessage(inbox.id);
    });
  },

  async createDraft(turn) {
    await inInbox(turn, async (inbox, params) => {
      const reply = await turn.call('createDraft', inbox, { params, json: draftOf(turn, inbox), expected: [201] });
      if (reply) turn.tree.add('draft', reply.json.id, inbox.id);
    });
  },
  async updateDraft(turn) {
    await inDraft(turn, async (inbox, params) => {
      await turn.call('updateDraft', inbox, { params, json: draftOf(turn, inbox), expected: [200] });
    });
  },
  async deleteDraft(turn) {
    await inDraft(turn, async (inbox, params) => {
      if (await turn.call('deleteDraft', inbox, { params, expected: [200] })) turn.tree.remove(params.draftId);
    });
  },
  async sendDraft(turn) {
    await inDraft(turn, async (inbox, params) => {
      const reply = await turn.call('sendDraft', inbox, { params, expected: SENDING });
      if (reply) turn.tree.remove(params.draftId);
      expectDelivered(turn, inbox, reply);
    });
  },

  async createList(turn) {
    await inInbox(turn, async (inbox, params) => {
      const reply = await turn.call('createList', inbox, { params, json: { name: 'Friends' }, expected: [201] });
      if (reply) turn.tree.add('list', reply.json.id, inbox.id);
    });
  },
  async deleteList(turn) {
    await inList(turn, async (inbox, params) => {
      if (await turn.call('deleteList', inbox, { params, expected: [200] })) turn.tree.remove(params.listId);
    });
  },
  async createListEntry(turn) {
    await inList(turn, async (inbox, params) => {
      const email = `${turn.pick(NAMES)}@customer.test`;
      const isThere = inbox.tenant.listEntries.some((row) => row.listId === params.listId && row.email === email);
      const call = { params, json: { email }, expected: [isThere ? 409 : 201] };
      const reply = await turn.call('createListEntry', inbox, call);
      if (reply) turn.tree.add('entry', reply.json.id, params.listId);
    });
  },
  async deleteListEntry(turn) {
    await inList(turn, async (inbox, params) => {
      const entry = turn.pick(inbox.tenant.listEntries.filter(({ listId }) => listId === params.listId));
      if (!entry) return;
      const call = { params: { ...params, entryId: entry.id }, expected: [200] };
      if (await turn.call('deleteListEntry', inbox, call)) turn.tree.remove(entry.id);
    });
  },
};

type Located<Row> = Row & { readonly tenantId: string; readonly tenant: TenantState };

function located<Row>(turn: Turn, rowsOf: (tenant: TenantState) => readonly Row[]): Located<Row>[] {
  return turn.state.tenants.flatMap((tenant) => rowsOf(tenant).map((row) => ({ ...row, tenant, tenantId: tenant.id })));
}

const workspacesOf = (turn: Turn) =>
  located(turn, ({ workspaces }) => workspaces.map((row) => ({ ...row, workspaceId: row.id })));
/** Mostly one that may be deleted, so that something is in it when it is. */
const pickWorkspace = (turn: Turn) => turn.pick(preferred(workspacesOf(turn), ({ isDefault }) => !isDefault, turn));
const domainsOf = (turn: Turn) => located(turn, ({ domains }) => domains);
const webhooksOf = (turn: Turn) => located(turn, ({ webhooks }) => webhooks);
const inboxesOf = (turn: Turn) =>
  located(turn, ({ inboxes }) => inboxes.filter(({ deletedAt }) => deletedAt === null)).map((row) => ({
    ...row,
    inboxId: row.id,
  }));

const addressesOf = ({ id, tenant }: Located<Inbox>) =>
  tenant.addresses.filter(({ inboxId }) => inboxId === id).map(({ address }) => address);
const messagesOf = ({ id, tenant }: Located<Inbox>) =>
  tenant.messages.filter(({ inboxId, deletedAt }) => inboxId === id && deletedAt === null);

/** Usually the items with the most effects; sometimes, and if there are none, all items. */
function preferred<Item>(items: readonly Item[], isPreferred: (item: Item) => boolean, turn: Turn): readonly Item[] {
  const chosen = turn.chance() % 4 === 0 ? [] : items.filter(isPreferred);
  return chosen.length > 0 ? chosen : items;
}

function placeOf({ tenantId, workspaceId }: Place): Place {
  return { ...(tenantId !== undefined && { tenantId }), ...(workspaceId !== undefined && { workspaceId }) };
}

async function inInbox(
  turn: Turn,
  act: (inbox: Located<Inbox>, params: { readonly id: string }) => Promise<void>,
): Promise<void> {
  const inbox = turn.pick(inboxesOf(turn));
  if (inbox) await act(inbox, { id: inbox.id });
}

function inMessage(
  turn: Turn,
  act: (inbox: Located<Inbox>, params: { readonly id: string; readonly messageId: string }) => Promise<void>,
): Promise<void> {
  return inInbox(turn, async (inbox, params) => {
    const { attachments } = inbox.tenant;
    const hasFiles = ({ id }: { id: string }) => attachments.some(({ messageId }) => messageId === id);
    const message = turn.pick(preferred(messagesOf(inbox), hasFiles, turn));
    if (message) await act(inbox, { ...params, messageId: message.id });
  });
}

function inDraft(
  turn: Turn,
  act: (inbox: Located<Inbox>, params: { readonly id: string; readonly draftId: string }) => Promise<void>,
): Promise<void> {
  return inInbox(turn, async (inbox, params) => {
    const draft = turn.pick(inbox.tenant.drafts.filter(({ inboxId }) => inboxId === inbox.id));
    if (draft) await act(inbox, { ...params, draftId: draft.id });
  });
}

function inList(
  turn: Turn,
  act: (inbox: Located<Inbox>, params: { readonly id: string; readonly listId: string }) => Promise<void>,
): Promise<void> {
  return inInbox(turn, async (inbox, params) => {
    const list = turn.pick(inbox.tenant.lists.filter(({ inboxId }) => inboxId === inbox.id));
    if (list) await act(inbox, { ...params, listId: list.id });
  });
}

/** One to three addresses: of inboxes of any tenant, of no inbox, or outside. */
function recipients(turn: Turn): string[] {
  const inside = turn.state.tenants.flatMap(({ addresses }) => addresses.map(({ address }) => address));
  const count = 1 + (turn.chance() % 3);
  return Array.from({ length: count }, () => turn.pick(turn.chance() % 3 === 0 ? OUTSIDE : inside) ?? 'x@y.test');
}

function draftOf(turn: Turn, inbox: Located<Inbox>) {
  return {
    ...(turn.chance() % 2 === 0 && { to: recipients(turn) }),
    ...(turn.chance() % 3 === 0 && { bcc: recipients(turn) }),
    ...(turn.chance() % 2 === 0 && { replyToMessageId: turn.pick(messagesOf(inbox))?.id ?? null }),
    subject: 'Drafted',
  };
}

function isVerified({ domain, status }: TenantState['domains'][number], name: string): boolean {
  return domain === name && status === 'verified';
}

/** An inbox that a request got instead of a new one is of the same tenant. */
function expectOwn(turn: Turn, inboxId: string | undefined, tenantId: string): void {
  if (inboxId === undefined) return;
  expect(turn.tree.parentOf(turn.tree.parentOf(inboxId) ?? '')).toBe(tenantId);
}

/** What was sent is a message more in the inbox that sent it, and one in each inbox that has one of the addresses. */
function expectDelivered(
  turn: Turn,
  inbox: Located<Inbox>,
  reply: { readonly json: { id: string } } | undefined,
): void {
  if (!reply) return;
  const sent = turn.state.tenants.flatMap(({ messages }) => messages).find(({ id }) => id === reply.json.id);
  expect(sent?.inboxId).toBe(inbox.id);
  turn.tree.addMessage(inbox.id);
  const addresses = [...(sent?.to ?? []), ...(sent?.cc ?? []), ...(sent?.bcc ?? [])].map(bareAddress);
  const receivers = addresses.flatMap((address) => turn.tree.parentOf(address) ?? []);
  for (const receiver of new Set(receivers)) turn.tree.addMessage(receiver);
}

function bareAddress(text: string): string {
  return (/<([^>]*)>$/.exec(text)?.[1] ?? text).toLowerCase();
}
