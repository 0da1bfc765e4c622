import { randomUUID } from 'node:crypto';
import {
  createInbox,
  type Experiments,
  fieldNames,
  isBefore,
  replyFieldsOf,
  replyOf,
  resultOf,
  status,
  statuses,
  statusOf,
} from './experiments.ts';
import { VerifyError, type VerifySession } from './verify-session.ts';

/** Sends the request that creates a draft in a new inbox, and returns the reply, which may be a refusal. */
const postDraft = async (s: VerifySession, fields: object = {}) => {
  const inbox = await s.createInbox();
  const reply = await s.post(`${inbox.path}/drafts`, { to: inbox.email, subject: 'Draft', plainBody: 'x', ...fields });
  return { inbox, reply, path: `${inbox.path}/drafts/${reply.body.id}` };
};

const DANA = { email: 'dana@verify.example' };

/** Creates an inbox with a list, and an entry of this list. */
const createListWithEntry = async (s: VerifySession) => {
  const inbox = await s.createInbox();
  const { id } = await s.add(`${inbox.path}/lists`, { name: 'Verify' });
  const path = `${inbox.path}/lists/${id}`;
  return { inbox, path, entry: await s.add(`${path}/entries`, DANA) };
};

/** Creates an inbox whose primary address is a second address at the same domain. */
const createAddress = async (s: VerifySession) => {
  const [inbox, email] = [await s.createInbox(), `${s.newName()}@${s.domain}`];
  await s.add(`${inbox.path}/addresses`, { email, primary: true });
  return { inbox, address: `${inbox.path}/addresses/${email}` };
};

/** Creates an inbox of another tenant, and then an inbox of this tenant with the same user name. */
const createWithTakenName = async (s: VerifySession) => {
  const username = s.newName();
  await s.createInbox({ username }, s.target.secondKey);
  return { username, email: (await s.createInbox({ username })).email };
};

/** The experiments on inboxes, drafts and lists. */
export const inboxExperiments: Experiments = {
  'inboxes.rotate.tiers': async (s) => {
    const [own, other] = [await s.createInbox(), await s.createInbox()];
    const rotate = (path: string, key: string) => s.post(`${path}/keys`, {}, { key });
    const rotated = await statuses(rotate(own.path, own.key), rotate(other.path, s.workspace.key));
    return rotated.map((status) => status === 201);
  },
  'inboxes.rotate.reply': replyOf(createInbox, ({ path }, s) => s.post(`${path}/keys`)),
  'inboxes.shape': async (s) => 'metadata' in (await s.read((await s.createInbox()).path)),
  'inboxes.display-name.unset': async (s) => {
    const { displayName = 'absent' } = await s.read((await s.createInbox()).path);
    return displayName;
  },
  'inboxes.read.tiers': statusOf(createInbox, ({ path, key }, s) => s.get(path, { key })),
  'inboxes.change.tiers': statusOf(createInbox, ({ path, key }, s) => s.patch(path, { displayName: 'A' }, { key })),
  'inboxes.list.credentials': resultOf(createInbox, async (_, s) => 'imapPassword' in (await inboxesOf(s))[0]),
  'inboxes.create.username': (s) =>
    statuses(
      s.post('/v1/inboxes', { username: 'Verify Upper!' }, { key: s.workspace.key }),
      s.post('/v1/inboxes', { username: `${s.newName()}.a_b` }, { key: s.workspace.key }),
    ),
  'inboxes.create.generated-name': async (s) => {
    const { username } = await s.add('/v1/inboxes', {}, { key: s.workspace.key });
    return /-[0-9a-f]{8}$/.test(username);
  },
  'inboxes.create.workspace': async (s) => {
    const { workspaceId } = await s.add('/v1/inboxes', { username: s.newName() });
    return (await s.read(`/v1/workspaces/${workspaceId}`)).isDefault;
  },
  'inboxes.create.out-of-reach': async (s) => {
    const username = s.newName();
    await s.add('/v1/inboxes', { username });
    const { email } = await s.add('/v1/inboxes', { username }, { key: s.workspace.key });
    return email.replace(/@.*/, '').replace(username, '');
  },
  'inboxes.create.domain': async (s) =>
    status(await s.post('/v1/inboxes', { domain: `${s.newName()}.example` }, { key: s.workspace.key })),
  'inboxes.create.existing': async (s) => {
    const body = { username: s.newName(), workspaceId: s.workspace.id };
    await s.add('/v1/inboxes', body);
    return status(await s.post('/v1/inboxes', body));
  },
  'inboxes.create.taken': async (s) => {
    const { username, email } = await createWithTakenName(s);
    return [email.replace(/@.*/, ''), status(await s.post('/v1/inboxes?strict=true', { username }))];
  },
  'inboxes.create.again': statusOf(createWithTakenName, ({ username }, s) =>
    s.post('/v1/inboxes', { username, workspaceId: s.workspace.id }),
  ),
  'inboxes.update.metadata': async (s) => {
    const { path } = await s.createInbox();
    await s.mustSucceed(s.patch(path, { metadata: { first: 1 } }));
    await s.mustSucceed(s.patch(path, { metadata: { second: 2 } }));
    const { metadata } = await s.read(path);
    if (metadata === undefined) throw new VerifyError('an inbox does not show its metadata');
    return fieldNames(metadata);
  },
  'inboxes.delete.kept': async (s) => {
    const { to } = await s.createMail();
    await s.delete(to.path);
    return statuses(s.get(`${to.path}/messages`), s.get('/v1/me', { key: to.key }));
  },
  'inboxes.delete.body': replyOf(createInbox, ({ path }, s) => s.delete(path)),
  'inboxes.addresses.create.domain': statusOf(createInbox, ({ path }, s) =>
    s.post(`${path}/addresses`, { email: `a@${s.newName()}.example` }),
  ),
  'inboxes.addresses.delete.canonical': statusOf(createInbox, ({ path, email }, s) =>
    s.delete(`${path}/addresses/${email}`),
  ),
  'inboxes.addresses.delete.body': replyOf(createAddress, ({ address }, s) => s.delete(address)),
  'inboxes.addresses.delete.primary': async (s) => {
    const { inbox, address } = await createAddress(s);
    await s.mustSucceed(s.delete(address));
    return (await s.read(inbox.path)).email === inbox.email;
  },

  'drafts.list.reply': replyFieldsOf(createInbox, ({ path }, s) => s.get(`${path}/drafts`)),
  'drafts.list.order': async (s) => {
    const { inbox, reply } = await postDraft(s);
    const { id } = await s.add(`${inbox.path}/drafts`, { subject: 'Second' });
    return isBefore((await s.read(`${inbox.path}/drafts`)).drafts, reply.body.id, id);
  },
  'drafts.recipients': async (s) => status((await postDraft(s, { to: 'dana@' })).reply),
  'drafts.recipients.text': async (s) => (await postDraft(s, { to: ' dana@verify.example ,, kim ' })).reply.body.to,
  'drafts.unknown-message': async (s) => status((await postDraft(s, { replyToMessageId: randomUUID() })).reply),
  'drafts.delete.body': replyOf(postDraft, ({ path }, s) => s.delete(path)),
  'drafts.send.incomplete': async (s) => status(await s.post(`${(await postDraft(s, { to: null })).path}/send`)),
  'lists.list.entries': resultOf(createListWithEntry, async ({ inbox: { path } }, s) => {
    return 'entries' in (await s.read(`${path}/lists`)).lists[0];
  }),
  'lists.delete.body': replyOf(createListWithEntry, ({ path }, s) => s.delete(path)),
  'lists.entries.delete.body': replyOf(createListWithEntry, ({ path, entry }, s) =>
    s.delete(`${path}/entries/${entry.id}`),
  ),
  'lists.entries.taken': statusOf(createListWithEntry, ({ path }, s) => s.post(`${path}/entries`, DANA)),
};

async function inboxesOf(s: VerifySession) {
  return (await s.read('/v1/inboxes', { key: s.workspace.key })).inboxes;
}
