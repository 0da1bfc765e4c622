import { randomUUID } from 'node:crypto';
import { type Experiments, isFirst, keysOf, reply, status } from './experiments.ts';
import type { Session } from './verify-session.ts';

const ofDraft = async (s: Session, fields: object = {}) => {
  const inbox = await s.inbox();
  const answer = await s.post(`${inbox.path}/drafts`, { to: inbox.email, subject: 'Draft', plainBody: 'x', ...fields });
  return { inbox, answer, path: `${inbox.path}/drafts/${answer.body.id}` };
};

const ofList = async (s: Session) => {
  const inbox = await s.inbox();
  const { id } = await s.must(s.post(`${inbox.path}/lists`, { name: 'Verify' }));
  const path = `${inbox.path}/lists/${id}`;
  return { inbox, path, entry: await s.must(s.post(`${path}/entries`, { email: 'dana@verify.example' })) };
};

/** The experiments on inboxes, drafts and lists. */
export const inboxExperiments: Experiments = {
  'inboxes.rotate.tiers': async (s) => {
    const [own, other] = [await s.inbox(), await s.inbox()];
    const rotated = [
      await s.post(`${own.path}/keys`, {}, { key: own.key }),
      await s.post(`${other.path}/keys`, {}, { key: s.workspace.key }),
    ];
    return rotated.map((answer) => answer.status === 201);
  },
  'inboxes.rotate.reply': async (s) => reply(await s.post(`${(await s.inbox()).path}/keys`), s),
  'inboxes.rotate.status': async (s) => status(await s.post(`${(await s.inbox()).path}/keys`)),
  'inboxes.shape': async (s) => 'metadata' in (await s.must(s.get((await s.inbox()).path))),
  'inboxes.display-name.unset': async (s) => {
    const { displayName = 'absent' } = await s.must(s.get((await s.inbox()).path));
    return displayName;
  },
  'inboxes.read.tiers': async (s) => {
    const { path, key } = await s.inbox();
    return status(await s.get(path, { key }));
  },
  'inboxes.change.tiers': async (s) => {
    const { path, key } = await s.inbox();
    return status(await s.patch(path, { displayName: 'A' }, { key }));
  },
  'inboxes.list.credentials': async (s) => {
    await s.inbox();
    const { inboxes } = await s.must(s.get('/v1/inboxes', { key: s.workspace.key }));
    return 'imapPassword' in inboxes[0];
  },
  'inboxes.list.order': async (s) => {
    const [first, second] = [await s.inbox(), await s.inbox()];
    return isFirst((await s.must(s.get('/v1/inboxes', { key: s.workspace.key }))).inboxes, first.id, second.id);
  },
  'inboxes.create.username': async (s) => [
    status(await s.post('/v1/inboxes', { username: 'Verify Upper!' }, { key: s.workspace.key })),
    status(await s.post('/v1/inboxes', { username: `${s.newName()}.a_b` }, { key: s.workspace.key })),
  ],
  'inboxes.create.generated-name': async (s) => {
    const { username } = await s.must(s.post('/v1/inboxes', {}, { key: s.workspace.key }));
    return /-[0-9a-f]{8}$/.test(username);
  },
  'inboxes.create.workspace': async (s) => {
    const { workspaceId } = await s.must(s.post('/v1/inboxes', { username: s.newName() }));
    return (await s.must(s.get(`/v1/workspaces/${workspaceId}`))).isDefault;
  },
  'inboxes.create.out-of-reach': async (s) => {
    const username = s.newName();
    await s.must(s.post('/v1/inboxes', { username }));
    const { email } = await s.must(s.post('/v1/inboxes', { username }, { key: s.workspace.key }));
    return email.replace(/@.*/, '').replace(username, '');
  },
  'inboxes.create.domain': async (s) =>
    status(await s.post('/v1/inboxes', { domain: `${s.newName()}.example` }, { key: s.workspace.key })),
  'inboxes.create.existing': async (s) => {
    const username = s.newName();
    await s.must(s.post('/v1/inboxes', { username, workspaceId: s.workspace.id }));
    return status(await s.post('/v1/inboxes', { username, workspaceId: s.workspace.id }));
  },
  'inboxes.create.taken': async (s) => {
    const username = s.newName();
    await s.inbox({ username }, s.target.secondKey);
    const { email } = await s.inbox({ username });
    return [email.replace(/@.*/, ''), status(await s.post('/v1/inboxes?strict=true', { username }))];
  },
  'inboxes.create.again': async (s) => {
    const username = s.newName();
    await s.inbox({ username }, s.target.secondKey);
    await s.inbox({ username });
    return status(await s.post('/v1/inboxes', { username, workspaceId: s.workspace.id }));
  },
  'inboxes.update.reply': async (s) => reply(await s.patch((await s.inbox()).path, { displayName: 'A' }), s),
  'inboxes.delete.kept': async (s) => {
    const { from, to } = await s.mail();
    await s.delete(to.path);
    return [status(await s.get(`${to.path}/messages`)), status(await s.get('/v1/me', { key: to.key })), from.id !== ''];
  },
  'inboxes.delete.body': async (s) => reply(await s.delete((await s.inbox()).path), s),
  'inboxes.addresses.create.domain': async (s) =>
    status(await s.post(`${(await s.inbox()).path}/addresses`, { email: `a@${s.newName()}.example` })),
  'inboxes.addresses.create.reply': async (s) =>
    reply(await s.post(`${(await s.inbox()).path}/addresses`, { email: `${s.newName()}@${s.domain}` }), s),
  'inboxes.addresses.delete.canonical': async (s) => {
    const { path, email } = await s.inbox();
    return status(await s.delete(`${path}/addresses/${email}`));
  },
  'inboxes.addresses.delete.body': async (s) => {
    const [{ path }, email] = [await s.inbox(), `${s.newName()}@${s.domain}`];
    await s.must(s.post(`${path}/addresses`, { email }));
    return reply(await s.delete(`${path}/addresses/${email}`), s);
  },
  'inboxes.addresses.delete.primary': async (s) => {
    const [inbox, email] = [await s.inbox(), `${s.newName()}@${s.domain}`];
    await s.must(s.post(`${inbox.path}/addresses`, { email }));
    await s.must(s.delete(`${inbox.path}/addresses/${email}`));
    return (await s.must(s.get(inbox.path))).email === inbox.email;
  },

  'drafts.shape': async (s) => keysOf((await ofDraft(s)).answer.body),
  'drafts.list.reply': async (s) => keysOf(await s.must(s.get(`${(await s.inbox()).path}/drafts`))),
  'drafts.list.order': async (s) => {
    const { inbox, answer } = await ofDraft(s);
    const { id } = await s.must(s.post(`${inbox.path}/drafts`, { subject: 'Second' }));
    return isFirst((await s.must(s.get(`${inbox.path}/drafts`))).drafts, answer.body.id, id);
  },
  'drafts.recipients': async (s) => status((await ofDraft(s, { to: 'dana@' })).answer),
  'drafts.unknown-message': async (s) => status((await ofDraft(s, { replyToMessageId: randomUUID() })).answer),
  'drafts.delete.body': async (s) => reply(await s.delete((await ofDraft(s)).path), s),
  'drafts.send.incomplete': async (s) => status(await s.post(`${(await ofDraft(s, { to: null })).path}/send`)),
  'drafts.send.reply': async (s) => {
    const { from, to } = await s.mail();
    const { id } = await s.must(s.post(`${to.path}/drafts`, { to: from.email, subject: 'Draft', plainBody: 'x' }));
    const path = `${to.path}/drafts/${id}`;
    return [keysOf(await s.must(s.post(`${path}/send`))), status(await s.post(`${path}/send`))];
  },
  'lists.shape': async (s) => {
    const { path, entry } = await ofList(s);
    return [keysOf(await s.must(s.get(path))), keysOf(entry)];
  },
  'lists.list.entries': async (s) => {
    const { lists } = await s.must(s.get(`${(await ofList(s)).inbox.path}/lists`));
    return 'entries' in lists[0];
  },
  'lists.list.reply': async (s) => {
    const { inbox, path } = await ofList(s);
    return [keysOf(await s.must(s.get(`${inbox.path}/lists`))), keysOf(await s.must(s.get(`${path}/entries`)))];
  },
  'lists.delete.body': async (s) => reply(await s.delete((await ofList(s)).path), s),
  'lists.entries.delete.body': async (s) => {
    const { path, entry } = await ofList(s);
    return reply(await s.delete(`${path}/entries/${entry.id}`), s);
  },
  'lists.entries.taken': async (s) =>
    status(await s.post(`${(await ofList(s)).path}/entries`, { email: 'dana@verify.example' })),
};
