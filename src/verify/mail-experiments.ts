import {
  createInbox,
  type Experiments,
  fieldNames,
  isBefore,
  LAST_MAIL,
  replyOf,
  resultOf,
  status,
  statusOf,
} from './experiments.ts';
import { NEEDS } from './needs.ts';
import { type OwnInbox, VerifyError, type VerifySession } from './verify-session.ts';

const createMail = (s: VerifySession) => s.createMail();

/** Delivers a mail from outside to a new inbox, and returns the inbox and the message. */
async function receiveFromOutside(s: VerifySession, fields: Readonly<Record<string, unknown>> = {}) {
  const inbox = await s.createInbox();
  if (!s.target.deliver) throw new VerifyError(NEEDS['mail from outside'].message);
  const parts = 'eml' in fields ? {} : { from: 'Dana <dana@verify.example>', subject: 'Verify', plainBody: 'Hi' };
  await s.target.deliver({ ...parts, to: inbox.email, ...fields });
  const [message] = await s.waitForMessages(inbox);
  return { inbox, message, path: `${inbox.path}/messages/${message.id}` };
}

const receiveWithAttachment = (s: VerifySession) => receiveFromOutside(s, ATTACHED);
const ATTACHED = { attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: 'YQ==' }] };

/** Sends two mails to one inbox. `message` is the mail that arrives first, and `second` is the other mail. */
async function sendTwoMails(s: VerifySession) {
  const mail = await s.createMail();
  await s.send(mail.from, mail.to);
  const messages = await s.waitForMessages(mail.to, 2);
  const second = messages.find((message: { id: string }) => message.id !== mail.message.id);
  return { ...mail, messages, second };
}

/** Sends a mail, and deletes it in the inbox that received it. */
async function deleteMail(s: VerifySession) {
  const mail = await s.createMail();
  await s.mustSucceed(s.delete(mail.path));
  return mail;
}

/** Sends a mail, and returns what `GET /v1/messages` lists for the key of the inbox that received it. */
async function listAllMessages(s: VerifySession, fields: Readonly<Record<string, unknown>> = {}) {
  const { to } = await s.createMail(fields);
  return (await s.read('/v1/messages', { key: to.key })).messages;
}

const sendUnverified = (s: VerifySession, from: OwnInbox, to: OwnInbox) =>
  s.post(`${from.path}/send`, { to: to.email, subject: 'Verify', plainBody: 'Hi' });

/** The experiments on messages, sending and threads. */
export const mailExperiments: Experiments = {
  'messages.shape': async (s) => fieldNames((await s.createMail()).message),
  'messages.to': async (s) => typeof (await s.createMail()).message.to,
  'messages.addresses': async (s) => {
    const [from, to] = [await s.createInbox({ displayName: 'Verify' }), await s.createInbox()];
    await s.send(from, to);
    return (await s.waitForMessages(to))[0].from.includes('<');
  },
  'messages.list.order': resultOf(sendTwoMails, ({ messages, message, second }) =>
    isBefore(messages, message.id, second.id),
  ),
  'messages.list.over-limit': statusOf(createInbox, ({ path }, s) => s.get(`${path}/messages?limit=201`)),
  'messages.inbound.sender': async (s) => {
    const eml = 'Sender: Dana <dana@verify.example>\r\nSubject: x\r\n\r\nHi\r\n';
    return (await receiveFromOutside(s, { eml })).message.from;
  },
  'messages.inbound.unreadable': async (s) => {
    const header = ['From: a@verify.example', 'Content-Type: text/plain; charset=utf-8'];
    const eml = [...header, 'Content-Transfer-Encoding: base64', '', '/w==', ''].join('\r\n');
    return (await receiveFromOutside(s, { eml })).message.plainBody;
  },
  'messages.get.marks-read': async (s) => {
    const { path, to } = await s.createMail();
    await s.read(path);
    return (await s.waitForMessages(to))[0].isRead;
  },
  'messages.update.reply': async (s) => {
    const { path } = await s.createMail();
    const updated = await s.mustSucceed(s.patch(path, { isRead: true }));
    return 'subject' in updated;
  },
  'messages.update.deleted': statusOf(deleteMail, ({ path }, s) => s.patch(path, { isRead: true })),
  'messages.answer.deleted': statusOf(deleteMail, ({ to, message }, s) =>
    s.post(`${to.path}/reply/${message.id}`, { plainBody: 'Hi' }),
  ),
  'messages.delete.body': replyOf(createMail, ({ path }, s) => s.delete(path)),
  'messages.delete.deleted': statusOf(deleteMail, ({ path }, s) => s.delete(path)),
  'messages.deleted': statusOf(deleteMail, ({ path }, s) => s.get(path)),
  'messages.raw.trace': resultOf(receiveFromOutside, async ({ path }, s) =>
    /^Received:/im.test((await s.get(`${path}/raw`)).text),
  ),
  'messages.attachments.disposition': async (s) => {
    const { path, message } = await receiveWithAttachment(s);
    const { headers } = await s.get(`${path}/attachments/${message.attachments[0].id}`);
    return headers.get('content-disposition')?.split(';')[0];
  },
  'messages.all.shape': async (s) => fieldNames((await listAllMessages(s))[0]),
  'messages.all.snippet': async (s) =>
    (await listAllMessages(s, { plainBody: `One \n two ${'x'.repeat(300)}` }))[0].snippet ?? 'none',
  'messages.all.folder': resultOf(
    createMail,
    async ({ from: { key } }, s) => (await s.read('/v1/messages', { key })).messages.length,
  ),
  'messages.folders.counts': async (s) =>
    await s.read('/v1/messages/folders/counts', { key: (await s.createInbox()).key }),

  'sending.subject': statusOf(createInbox, ({ path, email }, s) =>
    s.post(`${path}/send`, { to: email, subject: 'Two\r\nlines', plainBody: 'x', verified: true }),
  ),
  'sending.repeated-recipients': async (s) => {
    const [from, to] = [await s.createInbox(), await s.createInbox()];
    const mail = { to: [to.email, to.email], subject: 'x', plainBody: 'x', verified: true };
    const { id } = await s.add(`${from.path}/send`, mail);
    const { to: shown } = await s.read(`${from.path}/messages/${id}`);
    return [(await s.waitForMessages(to)).length, String(shown).split(',').length];
  },
  'sending.reply': resultOf(createMail, ({ sent: { id, messageId } }) => id === messageId),
  'sending.verified': async (s) => status(await sendUnverified(s, await s.createInbox(), await s.createInbox())),
  'sending.verified.scope': async (s) => {
    const { to, message } = await s.createMail();
    const { email } = await s.createInbox();
    const forward = await s.post(`${to.path}/forward/${message.id}`, { to: email });
    const copy = await s.post(`${to.path}/reply/${message.id}`, { plainBody: 'Hi', cc: email });
    return [status(forward), status(copy)];
  },
  'sending.unknown-user': async (s) => (await countBounces(s)).calls,
  'sending.bounce.report': async (s) => (await countBounces(s)).reports,
  'sending.forward.body': async (s) => {
    const { to, message } = await s.createMail({ plainBody: 'The original text' });
    const other = await s.createInbox();
    // A server may refuse to forward to an address that has never written to the inbox.
    await s.post(`${other.path}/send`, { to: to.email, subject: 'x', plainBody: 'x', verified: true });
    await s.waitForMessages(to, 2);
    await s.add(`${to.path}/forward/${message.id}`, { to: other.email, plainBody: 'See below' });
    return (await s.waitForMessages(other))[0].plainBody.includes('The original text');
  },
  'sending.plus-tags': async (s) => {
    const [from, inbox] = [await s.createInbox(), await s.createInbox()];
    const to = inbox.email.replace('@', '+tag@');
    // This mail may not arrive. The next mail arrives, and after it no earlier mail can still arrive.
    await s.post(`${from.path}/send`, { to, subject: s.newName(), plainBody: 'Hello', verified: true });
    await s.send(from, inbox, { subject: LAST_MAIL });
    return await s.waitFor('the second mail', async () => {
      const messages = await s.waitForMessages(inbox);
      const hasArrived = messages.some((message: { subject: string }) => message.subject === LAST_MAIL);
      return hasArrived ? messages.length : undefined;
    });
  },
  'sending.address-lists': async (s) => {
    const [from, to, other] = [await s.createInbox(), await s.createInbox(), await s.createInbox()];
    const mail = { to: `${to.email}, ${other.email}`, subject: 'x', plainBody: 'x', verified: true };
    return status(await s.post(`${from.path}/send`, mail));
  },
};

/**
 * Sends a mail to an address that does not exist, in the domain of the service. Returns how many deliveries of
 * `message.bounced` a webhook got, and how many bounce reports arrived.
 */
async function countBounces(s: VerifySession) {
  const { from } = await s.createMail();
  const receiver = await s.createReceiver(['message.bounced', 'message.received']);
  const payloads = () => receiver.calls.map(({ body }) => JSON.parse(body) as { event: string; to: unknown });
  await s.post(`${from.path}/send`, { to: `${s.newName()}@${s.domain}`, subject: 'x', plainBody: 'x', verified: true });
  const inbox = await s.createInbox();
  await s.send(from, inbox, { subject: LAST_MAIL });
  await s.waitFor('the second mail', () => payloads().some(({ to }) => String(to).includes(inbox.email)) || undefined);
  const { messages } = await s.read(`${from.path}/messages`, { key: from.key });
  const reports = messages.filter(({ direction }: { direction: string }) => direction === 'inbound').length;
  return { calls: payloads().filter(({ event }) => event === 'message.bounced').length, reports };
}
