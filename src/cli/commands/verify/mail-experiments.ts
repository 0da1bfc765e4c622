import { randomUUID } from 'node:crypto';
import { type Experiments, isFirst, keysOf, reply, shapeOf, status } from './experiments.ts';
import { CannotTellError, type OwnInbox, type Session } from './session.ts';

/** A mail from outside to a new inbox; returns its message. */
async function outside(s: Session, fields: Readonly<Record<string, unknown>> = {}) {
  const inbox = await s.inbox();
  if (!s.target.deliver) throw new CannotTellError('no mail can come from outside');
  await s.target.deliver({
    from: 'Dana <dana@verify.example>',
    to: inbox.email,
    subject: 'Verify',
    text: 'Hi',
    ...fields,
  });
  const [message] = await s.messages(inbox);
  return { inbox, message, path: `${inbox.path}/messages/${message.id}` };
}

const ATTACHED = { attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: 'YQ==' }] };

/** Two mails to one inbox, the first first. */
async function twoMails(s: Session) {
  const mail = await s.mail();
  await s.send(mail.from, mail.to);
  const messages = await s.messages(mail.to, 2);
  const second = messages.find((message: { id: string }) => message.id !== mail.message.id);
  return { ...mail, messages, second };
}

/** Sends a mail of which it is unknown whether it arrives, and one after it that does; returns how many arrived. */
async function arrivals(s: Session, to: string, box: OwnInbox, from: OwnInbox) {
  await s.post(`${from.path}/send`, { to, subject: s.newName(), plainBody: 'Hello', verified: true });
  const { threadId } = await s.send(from, box, { subject: 'fence' });
  return await s.until('the second mail', async () => {
    const messages = await s.messages(box);
    const hasArrived = messages.some((message: { subject: string }) => message.subject === 'fence');
    return hasArrived && threadId ? messages.length : undefined;
  });
}

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

/** A mail, as the list for all inboxes shows it to the key of its inbox. */
async function listedForAll(s: Session, fields: Readonly<Record<string, unknown>> = {}) {
  const { to } = await s.mail(fields);
  return (await s.must(s.get('/v1/messages', { key: to.key }))).messages;
}

const unverified = (s: Session, from: OwnInbox, to: OwnInbox) =>
  s.post(`${from.path}/send`, { to: to.email, subject: 'Verify', plainBody: 'Hi' });

/** The experiments on inboxes, messages, sending, threads, drafts and lists. */
export const mailExperiments: Experiments = {
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

  'messages.shape': async (s) => keysOf((await s.mail()).message),
  'messages.to': async (s) => typeof (await s.mail()).message.to,
  'messages.addresses': async (s) => {
    const [from, to] = [await s.inbox({ displayName: 'Verify' }), await s.inbox()];
    await s.send(from, to);
    return (await s.messages(to))[0].from.includes('<');
  },
  'messages.list.order': async (s) => {
    const { messages, message, second } = await twoMails(s);
    return isFirst(messages, message.id, second.id);
  },
  'messages.list.pagination': async (s) => {
    const { to } = await twoMails(s);
    const { messages, pagination } = await s.must(s.get(`${to.path}/messages?limit=1&offset=1`));
    return [messages.length, pagination];
  },
  'messages.list.over-limit': async (s) => status(await s.get(`${(await s.inbox()).path}/messages?limit=201`)),
  'messages.inbound.sender': async (s) => {
    const eml = 'Sender: Dana <dana@verify.example>\r\nSubject: x\r\n\r\nHi\r\n';
    const inbox = await s.inbox();
    await s.target.deliver?.({ to: inbox.email, eml });
    return (await s.messages(inbox))[0].from;
  },
  'messages.inbound.unreadable': async (s) => {
    const header = ['From: a@verify.example', 'Content-Type: text/plain; charset=utf-8'];
    const eml = [...header, 'Content-Transfer-Encoding: base64', '', '/w==', ''].join('\r\n');
    const inbox = await s.inbox();
    await s.target.deliver?.({ to: inbox.email, eml });
    return (await s.messages(inbox))[0].plainBody;
  },
  'messages.get.marks-read': async (s) => {
    const { path, to } = await s.mail();
    await s.must(s.get(path));
    return (await s.messages(to))[0].isRead;
  },
  'messages.update.reply': async (s) => 'subject' in (await s.must(s.patch((await s.mail()).path, { isRead: true }))),
  'messages.update.deleted': async (s) => {
    const { path } = await s.mail();
    await s.must(s.delete(path));
    return status(await s.patch(path, { isRead: true }));
  },
  'messages.answer.deleted': async (s) => {
    const { path, to, message } = await s.mail();
    await s.must(s.delete(path));
    return status(await s.post(`${to.path}/reply/${message.id}`, { plainBody: 'Hi' }));
  },
  'messages.delete.body': async (s) => reply(await s.delete((await s.mail()).path), s),
  'messages.delete.deleted': async (s) => {
    const { path } = await s.mail();
    await s.must(s.delete(path));
    return status(await s.delete(path));
  },
  'messages.deleted': async (s) => {
    const { path } = await s.mail();
    await s.must(s.delete(path));
    return status(await s.get(path));
  },
  'messages.raw': async (s) => {
    const { headers, text } = await s.get(`${(await s.mail()).path}/raw`);
    return [headers.get('content-type')?.split(';')[0], /^Message-ID:/im.test(text)];
  },
  'messages.raw.trace': async (s) => {
    const { path } = await outside(s);
    return /^Received:/im.test((await s.get(`${path}/raw`)).text);
  },
  'messages.attachments.disposition': async (s) => {
    const { path, message } = await outside(s, ATTACHED);
    const { headers } = await s.get(`${path}/attachments/${message.attachments[0].id}`);
    return headers.get('content-disposition')?.split(';')[0];
  },
  'messages.attachments.shape': async (s) => reply(await s.get(`${(await outside(s, ATTACHED)).path}/attachments`), s),
  'messages.all.shape': async (s) => keysOf((await listedForAll(s))[0]),
  'messages.all.snippet': async (s) =>
    (await listedForAll(s, { plainBody: `One \n two ${'x'.repeat(300)}` }))[0].snippet ?? 'none',
  'messages.all.thread-counts': async (s) => {
    const [{ threadCount = 'none', threadUnreadCount = 'none' }] = await listedForAll(s);
    return [threadCount, threadUnreadCount];
  },
  'messages.all.folder': async (s) => {
    const { from } = await s.mail();
    return (await s.must(s.get('/v1/messages', { key: from.key }))).messages.length;
  },
  'messages.folders': async (s) => {
    const { to, path } = await s.mail();
    await s.must(s.patch(path, { isStarred: true, isArchived: true }));
    const counts = await s.must(s.get('/v1/messages/folders/counts', { key: to.key }));
    return Object.entries(counts).map(([name, count]) => [name, (count as { total?: number }).total ?? count]);
  },
  'messages.folders.counts': async (s) =>
    shapeOf(await s.must(s.get('/v1/messages/folders/counts', { key: (await s.inbox()).key })), s),

  'metrics.counts': async (s) => {
    const { to, path } = await s.mail();
    await s.must(s.delete(path));
    return (await s.must(s.get('/v1/metrics', { key: to.key }))).counts;
  },

  'sending.required': async (s) => {
    const { path, email } = await s.inbox();
    const send = async (body: object) => status(await s.post(`${path}/send`, { verified: true, ...body }));
    return [await send({ to: email, subject: 'x' }), await send({ to: email }), await send({ subject: 'x' })];
  },
  'sending.reply': async (s) => {
    const { id, messageId } = (await s.mail()).sent;
    return id === messageId;
  },
  'sending.verified': async (s) => status(await unverified(s, await s.inbox(), await s.inbox())),
  'sending.verified.scope': async (s) => {
    const { to, message } = await s.mail();
    const other = await s.inbox();
    const forward = await s.post(`${to.path}/forward/${message.id}`, { to: other.email });
    const copy = await s.post(`${to.path}/reply/${message.id}`, { plainBody: 'Hi', cc: other.email });
    return [status(forward), status(copy)];
  },
  'sending.local': async (s) => (await s.mail()).message.plainBody,
  'sending.unknown-user': async (s) => {
    const { calls } = await bounce(s);
    return calls;
  },
  'sending.bounce.report': async (s) => (await bounce(s)).reports,
  'sending.reply.recipients': async (s) => {
    const { to, from, message } = await s.mail();
    await s.must(s.post(`${to.path}/reply/${message.id}`, { plainBody: 'Hi' }));
    return (await s.messages(from)).length;
  },
  'sending.reply.subject': async (s) => {
    const { to, from, message } = await s.mail({ subject: 'Verify' });
    await s.must(s.post(`${to.path}/reply/${message.id}`, { plainBody: 'Hi' }));
    return (await s.messages(from))[0].subject;
  },
  'sending.forward.body': async (s) => {
    const { to, message } = await s.mail({ plainBody: 'The original text' });
    const other = await s.inbox();
    await s.post(`${other.path}/send`, { to: to.email, subject: 'x', plainBody: 'x', verified: true });
    await s.messages(to, 2);
    await s.must(s.post(`${to.path}/forward/${message.id}`, { to: other.email, plainBody: 'See below' }));
    return (await s.messages(other))[0].plainBody.includes('The original text');
  },
  'sending.plus-tags': async (s) => {
    const [from, to] = [await s.inbox(), await s.inbox()];
    return await arrivals(s, to.email.replace('@', '+tag@'), to, from);
  },
  'sending.address-lists': async (s) => {
    const [from, to, other] = [await s.inbox(), await s.inbox(), await s.inbox()];
    const mail = { to: `${to.email}, ${other.email}`, subject: 'x', plainBody: 'x', verified: true };
    return status(await s.post(`${from.path}/send`, mail));
  },
  'sending.copies': async (s) => {
    const [from, to, copy] = [await s.inbox(), await s.inbox(), await s.inbox()];
    await s.send(from, to, { cc: copy.email });
    return (await s.messages(copy)).length;
  },
  'sending.addresses': async (s) => {
    const { path } = await s.inbox();
    return status(await s.post(`${path}/send`, { to: 'no address', subject: 'x', plainBody: 'x', verified: true }));
  },

  'threads.shape': async (s) => {
    const { to, message } = await s.mail();
    return keysOf(await s.must(s.get(`${to.path}/threads/${message.threadId}`)));
  },
  'threads.list': async (s) => {
    const { threads, pagination } = await s.must(s.get(`${(await s.mail()).to.path}/threads`));
    return [keysOf(threads[0]), keysOf(pagination)];
  },
  'threads.inbound': async (s) => {
    const { to, from, message, sent } = await s.mail();
    await s.must(s.post(`${to.path}/reply/${message.id}`, { plainBody: 'Hi' }));
    return (await s.messages(from))[0].threadId === sent.threadId;
  },
  'threads.outbound': async (s) => {
    const { from, to, message } = await s.mail();
    const answer = await s.must(s.post(`${to.path}/reply/${message.id}`, { plainBody: 'Hi' }));
    const forward = await s.must(s.post(`${to.path}/forward/${message.id}`, { to: from.email }));
    return [answer.threadId, forward.threadId].map((id) => id === message.threadId);
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

/** Sends to nobody at the domain of the service: how many bounces a webhook was told of, and reports came. */
async function bounce(s: Session) {
  const { from } = await s.mail();
  const receiver = await s.receiver(['message.bounced', 'message.received']);
  const told = () => receiver.calls.map(({ body }) => JSON.parse(body) as { event: string; to: unknown });
  await s.post(`${from.path}/send`, { to: `${s.newName()}@${s.domain}`, subject: 'x', plainBody: 'x', verified: true });
  const to = await s.inbox();
  await s.send(from, to, { subject: 'fence' });
  await s.until('the second mail', () => told().some(({ to: it }) => String(it).includes(to.email)) || undefined);
  const { messages } = await s.must(s.get(`${from.path}/messages`, { key: from.key }));
  const reports = messages.filter(({ direction }: { direction: string }) => direction === 'inbound').length;
  return { calls: told().filter(({ event }) => event === 'message.bounced').length, reports };
}
