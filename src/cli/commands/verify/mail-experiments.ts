import {
  type Experiments,
  fieldsOf,
  inbox,
  isFirst,
  keysOf,
  replyOf,
  seenIn,
  shapeOf,
  status,
  statusOf,
} from './experiments.ts';
import { CannotTellError, type OwnInbox, type Session } from './verify-session.ts';

const mail = (s: Session) => s.mail();

/** A mail from outside to a new inbox; returns its message. */
async function outside(s: Session, fields: Readonly<Record<string, unknown>> = {}) {
  const inbox = await s.inbox();
  if (!s.target.deliver) throw new CannotTellError('no mail can come from outside');
  const parts = 'eml' in fields ? {} : { from: 'Dana <dana@verify.example>', subject: 'Verify', text: 'Hi' };
  await s.target.deliver({ ...parts, to: inbox.email, ...fields });
  const [message] = await s.messages(inbox);
  return { inbox, message, path: `${inbox.path}/messages/${message.id}` };
}

const attached = (s: Session) => outside(s, ATTACHED);
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

/** A mail that was moved to the trash. */
async function deleted(s: Session) {
  const mail = await s.mail();
  await s.must(s.delete(mail.path));
  return mail;
}

/** A mail with the reply to it; `back` is the message of the reply. */
async function replied(s: Session, fields: Readonly<Record<string, unknown>> = {}) {
  const mail = await s.mail(fields);
  await s.add(`${mail.to.path}/reply/${mail.message.id}`, { plainBody: 'Hi' });
  const messages = await s.messages(mail.from);
  return { ...mail, messages, back: messages[0] };
}

/** A mail, as the list for all inboxes shows it to the key of its inbox. */
async function listedForAll(s: Session, fields: Readonly<Record<string, unknown>> = {}) {
  const { to } = await s.mail(fields);
  return (await s.read('/v1/messages', { key: to.key })).messages;
}

const unverified = (s: Session, from: OwnInbox, to: OwnInbox) =>
  s.post(`${from.path}/send`, { to: to.email, subject: 'Verify', plainBody: 'Hi' });

/** The experiments on messages, sending and threads. */
export const mailExperiments: Experiments = {
  'messages.shape': async (s) => keysOf((await s.mail()).message),
  'messages.to': async (s) => typeof (await s.mail()).message.to,
  'messages.addresses': async (s) => {
    const [from, to] = [await s.inbox({ displayName: 'Verify' }), await s.inbox()];
    await s.send(from, to);
    return (await s.messages(to))[0].from.includes('<');
  },
  'messages.list.order': seenIn(twoMails, ({ messages, message, second }) => isFirst(messages, message.id, second.id)),
  'messages.list.pagination': async (s) => {
    const { to } = await twoMails(s);
    const { messages, pagination } = await s.read(`${to.path}/messages?limit=1&offset=1`);
    return [messages.length, pagination];
  },
  'messages.list.over-limit': statusOf(inbox, ({ path }, s) => s.get(`${path}/messages?limit=201`)),
  'messages.inbound.sender': async (s) => {
    const eml = 'Sender: Dana <dana@verify.example>\r\nSubject: x\r\n\r\nHi\r\n';
    return (await outside(s, { eml })).message.from;
  },
  'messages.inbound.unreadable': async (s) => {
    const header = ['From: a@verify.example', 'Content-Type: text/plain; charset=utf-8'];
    const eml = [...header, 'Content-Transfer-Encoding: base64', '', '/w==', ''].join('\r\n');
    return (await outside(s, { eml })).message.plainBody;
  },
  'messages.get.marks-read': async (s) => {
    const { path, to } = await s.mail();
    await s.read(path);
    return (await s.messages(to))[0].isRead;
  },
  'messages.update.reply': async (s) => 'subject' in (await s.must(s.patch((await s.mail()).path, { isRead: true }))),
  'messages.update.deleted': statusOf(deleted, ({ path }, s) => s.patch(path, { isRead: true })),
  'messages.answer.deleted': statusOf(deleted, ({ to, message }, s) =>
    s.post(`${to.path}/reply/${message.id}`, { plainBody: 'Hi' }),
  ),
  'messages.delete.body': replyOf(mail, ({ path }, s) => s.delete(path)),
  'messages.delete.deleted': statusOf(deleted, ({ path }, s) => s.delete(path)),
  'messages.deleted': statusOf(deleted, ({ path }, s) => s.get(path)),
  'messages.raw': async (s) => {
    const { headers, text } = await s.get(`${(await s.mail()).path}/raw`);
    return [headers.get('content-type')?.split(';')[0], /^Message-ID:/im.test(text)];
  },
  'messages.raw.trace': seenIn(outside, async ({ path }, s) => /^Received:/im.test((await s.get(`${path}/raw`)).text)),
  'messages.attachments.disposition': async (s) => {
    const { path, message } = await attached(s);
    const { headers } = await s.get(`${path}/attachments/${message.attachments[0].id}`);
    return headers.get('content-disposition')?.split(';')[0];
  },
  'messages.attachments.shape': replyOf(attached, ({ path }, s) => s.get(`${path}/attachments`)),
  'messages.all.shape': async (s) => keysOf((await listedForAll(s))[0]),
  'messages.all.snippet': async (s) =>
    (await listedForAll(s, { plainBody: `One \n two ${'x'.repeat(300)}` }))[0].snippet ?? 'none',
  'messages.all.thread-counts': async (s) => {
    const [{ threadCount = 'none', threadUnreadCount = 'none' }] = await listedForAll(s);
    return [threadCount, threadUnreadCount];
  },
  'messages.all.folder': seenIn(
    mail,
    async ({ from: { key } }, s) => (await s.read('/v1/messages', { key })).messages.length,
  ),
  'messages.folders': async (s) => {
    const { to, path } = await s.mail();
    await s.must(s.patch(path, { isStarred: true, isArchived: true }));
    const counts = await s.read('/v1/messages/folders/counts', { key: to.key });
    return Object.entries(counts).map(([name, count]) => [name, (count as { total?: number }).total ?? count]);
  },
  'messages.folders.counts': async (s) =>
    shapeOf(await s.read('/v1/messages/folders/counts', { key: (await s.inbox()).key }), s),

  'metrics.counts': async (s) => (await s.read('/v1/metrics', { key: (await deleted(s)).to.key })).counts,

  'sending.required': async (s) => {
    const { path, email } = await s.inbox();
    const send = async (body: object) => status(await s.post(`${path}/send`, { verified: true, ...body }));
    return [await send({ to: email, subject: 'x' }), await send({ to: email }), await send({ subject: 'x' })];
  },
  'sending.reply': seenIn(mail, ({ sent: { id, messageId } }) => id === messageId),
  'sending.verified': async (s) => status(await unverified(s, await s.inbox(), await s.inbox())),
  'sending.verified.scope': async (s) => {
    const { to, message } = await s.mail();
    const { email } = await s.inbox();
    const forward = await s.post(`${to.path}/forward/${message.id}`, { to: email });
    const copy = await s.post(`${to.path}/reply/${message.id}`, { plainBody: 'Hi', cc: email });
    return [status(forward), status(copy)];
  },
  'sending.local': async (s) => (await s.mail()).message.plainBody,
  'sending.unknown-user': async (s) => (await bounce(s)).calls,
  'sending.bounce.report': async (s) => (await bounce(s)).reports,
  'sending.reply.recipients': async (s) => (await replied(s)).messages.length,
  'sending.reply.subject': async (s) => (await replied(s, { subject: 'Verify' })).back.subject,
  'sending.forward.body': async (s) => {
    const { to, message } = await s.mail({ plainBody: 'The original text' });
    const other = await s.inbox();
    await s.post(`${other.path}/send`, { to: to.email, subject: 'x', plainBody: 'x', verified: true });
    await s.messages(to, 2);
    await s.add(`${to.path}/forward/${message.id}`, { to: other.email, plainBody: 'See below' });
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
  'sending.addresses': statusOf(inbox, ({ path }, s) =>
    s.post(`${path}/send`, { to: 'no address', subject: 'x', plainBody: 'x', verified: true }),
  ),

  'threads.shape': fieldsOf(mail, ({ to, message }, s) => s.get(`${to.path}/threads/${message.threadId}`)),
  'threads.list': async (s) => {
    const { threads, pagination } = await s.read(`${(await s.mail()).to.path}/threads`);
    return [keysOf(threads[0]), keysOf(pagination)];
  },
  'threads.inbound': seenIn(replied, ({ back, sent }) => back.threadId === sent.threadId),
  'threads.outbound': async (s) => {
    const { from, to, message } = await s.mail();
    const answer = await s.add(`${to.path}/reply/${message.id}`, { plainBody: 'Hi' });
    const forward = await s.add(`${to.path}/forward/${message.id}`, { to: from.email });
    return [answer.threadId, forward.threadId].map((id) => id === message.threadId);
  },
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
  const { messages } = await s.read(`${from.path}/messages`, { key: from.key });
  const reports = messages.filter(({ direction }: { direction: string }) => direction === 'inbound').length;
  return { calls: told().filter(({ event }) => event === 'message.bounced').length, reports };
}
