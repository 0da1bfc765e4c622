import { randomUUID } from 'node:crypto';
import {
  type Experiments,
  fieldsOf,
  inbox,
  isFirst,
  isOldestFirst,
  keysOf,
  replyOf,
  seenIn,
  status,
  statuses,
  statusOf,
} from './experiments.ts';
import type { Session } from './verify-session.ts';

const postDraft = async (s: Session, fields: object = {}) => {
  const inbox = await s.inbox();
  const answer = await s.post(`${inbox.path}/drafts`, { to: inbox.email, subject: 'Draft', plainBody: 'x', ...fields });
  return { inbox, answer, path: `${inbox.path}/drafts/${answer.body.id}` };
};

const DANA = { email: 'dana@verify.example' };

const listOfEntries = async (s: Session) => {
  const inbox = await s.inbox();
  const { id } = await s.add(`${inbox.path}/lists`, { name: 'Verify' });
  const path = `${inbox.path}/lists/${id}`;
  return { inbox, path, entry: await s.add(`${path}/entries`, DANA) };
};

/** An inbox with another address at the same domain. */
const withAddress = async (s: Session) => {
  const [inbox, email] = [await s.inbox(), `${s.newName()}@${s.domain}`];
  await s.add(`${inbox.path}/addresses`, { email });
  return { inbox, address: `${inbox.path}/addresses/${email}` };
};

/** A user name that an inbox of another tenant and then one of this tenant has. */
const takenTwice = async (s: Session) => {
  const username = s.newName();
  await s.inbox({ username }, s.target.secondKey);
  return { username, email: (await s.inbox({ username })).email };
};

/** The experiments on inboxes, drafts and lists. */
export const inboxExperiments: Experiments = {
  'inboxes.rotate.tiers': async (s) => {
    const [own, other] = [await s.inbox(), await s.inbox()];
    const rotate = (path: string, key: string) => s.post(`${path}/keys`, {}, { key });
    const rotated = await statuses(rotate(own.path, own.key), rotate(other.path, s.workspace.key));
    return rotated.map((status) => status === 201);
  },
  'inboxes.rotate.reply': replyOf(inbox, ({ path }, s) => s.post(`${path}/keys`)),
  'inboxes.rotate.status': statusOf(inbox, ({ path }, s) => s.post(`${path}/keys`)),
  'inboxes.shape': async (s) => 'metadata' in (await s.read((await s.inbox()).path)),
  'inboxes.display-name.unset': async (s) => {
    const { displayName = 'absent' } = await s.read((await s.inbox()).path);
    return displayName;
  },
  'inboxes.read.tiers': statusOf(inbox, ({ path, key }, s) => s.get(path, { key })),
  'inboxes.change.tiers': statusOf(inbox, ({ path, key }, s) => s.patch(path, { displayName: 'A' }, { key })),
  'inboxes.list.credentials': seenIn(inbox, async (_, s) => 'imapPassword' in (await inboxesOf(s))[0]),
  'inboxes.list.order': isOldestFirst(inbox, inboxesOf),
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
    const { username, email } = await takenTwice(s);
    return [email.replace(/@.*/, ''), status(await s.post('/v1/inboxes?strict=true', { username }))];
  },
  'inboxes.create.again': statusOf(takenTwice, ({ username }, s) =>
    s.post('/v1/inboxes', { username, workspaceId: s.workspace.id }),
  ),
  'inboxes.update.reply': replyOf(inbox, ({ path }, s) => s.patch(path, { displayName: 'A' })),
  'inboxes.delete.kept': async (s) => {
    const { from, to } = await s.mail();
    await s.delete(to.path);
    return [...(await statuses(s.get(`${to.path}/messages`), s.get('/v1/me', { key: to.key }))), from.id !== ''];
  },
  'inboxes.delete.body': replyOf(inbox, ({ path }, s) => s.delete(path)),
  'inboxes.addresses.create.domain': statusOf(inbox, ({ path }, s) =>
    s.post(`${path}/addresses`, { email: `a@${s.newName()}.example` }),
  ),
  'inboxes.addresses.create.reply': replyOf(inbox, ({ path }, s) =>
    s.post(`${path}/addresses`, { email: `${s.newName()}@${s.domain}` }),
  ),
  'inboxes.addresses.delete.canonical': statusOf(inbox, ({ path, email }, s) => s.delete(`${path}/addresses/${email}`)),
  'inboxes.addresses.delete.body': replyOf(withAddress, ({ address }, s) => s.delete(address)),
  'inboxes.addresses.delete.primary': async (s) => {
    const { inbox, address } = await withAddress(s);
    await s.must(s.delete(address));
    return (await s.read(inbox.path)).email === inbox.email;
  },

  'drafts.shape': async (s) => keysOf((await postDraft(s)).answer.body),
  'drafts.list.reply': fieldsOf(inbox, ({ path }, s) => s.get(`${path}/drafts`)),
  'drafts.list.order': async (s) => {
    const { inbox, answer } = await postDraft(s);
    const { id } = await s.add(`${inbox.path}/drafts`, { subject: 'Second' });
    return isFirst((await s.read(`${inbox.path}/drafts`)).drafts, answer.body.id, id);
  },
  'drafts.recipients': async (s) => status((await postDraft(s, { to: 'dana@' })).answer),
  'drafts.unknown-message': async (s) => status((await postDraft(s, { replyToMessageId: randomUUID() })).answer),
  'drafts.delete.body': replyOf(postDraft, ({ path }, s) => s.delete(path)),
  'drafts.send.incomplete': async (s) => status(await s.post(`${(await postDraft(s, { to: null })).path}/send`)),
  'drafts.send.reply': async (s) => {
    const { from, to } = await s.mail();
    const { id } = await s.add(`${to.path}/drafts`, { to: from.email, subject: 'Draft', plainBody: 'x' });
    const path = `${to.path}/drafts/${id}`;
    return [keysOf(await s.add(`${path}/send`)), status(await s.post(`${path}/send`))];
  },
  'lists.shape': seenIn(listOfEntries, async ({ path, entry }, s) => [keysOf(await s.read(path)), keysOf(entry)]),
  'lists.list.entries': seenIn(listOfEntries, async ({ inbox: { path } }, s) => {
    return 'entries' in (await s.read(`${path}/lists`)).lists[0];
  }),
  'lists.list.reply': async (s) => {
    const { inbox, path } = await listOfEntries(s);
    return [keysOf(await s.read(`${inbox.path}/lists`)), keysOf(await s.read(`${path}/entries`))];
  },
  'lists.delete.body': replyOf(listOfEntries, ({ path }, s) => s.delete(path)),
  'lists.entries.delete.body': replyOf(listOfEntries, ({ path, entry }, s) => s.delete(`${path}/entries/${entry.id}`)),
  'lists.entries.taken': statusOf(listOfEntries, ({ path }, s) => s.post(`${path}/entries`, DANA)),
};

async function inboxesOf(s: Session) {
  return (await s.read('/v1/inboxes', { key: s.workspace.key })).inboxes;
}
