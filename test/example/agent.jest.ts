import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { matchers } from 'agent-mailbox-mock/matchers';
import { createSample } from 'agent-mailbox-mock/samples';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { createAgent } from './agent.ts';
import { CHAIR, DANA, HELPDESK, receive } from './mailbox-with-agent.ts';
import { serveAgent } from './serve-agent.ts';

expect.extend(matchers);

let mailbox: MailboxServer['mailbox'];
let close: () => Promise<void>;

beforeEach(async () => {
  const server = await startServer({ port: 0 });
  mailbox = server.mailbox;
  const served = await serveAgent((request) => agent(request));
  const events = ['message.received', 'message.bounced'] as const;
  const { secret } = await mailbox.addWebhook({ url: served.url, events, workspaceOf: HELPDESK });
  const agent = createAgent({ client: server.client(mailbox.keys.acme.inboxes.helpdesk), secret });
  close = async () => {
    served.close();
    await server.close();
  };
});

afterEach(() => close());

test('a new mail is answered', async () => {
  expect(mailbox).toHaveAnswered(await receive(mailbox, CHAIR));
  expect(mailbox).toHaveSentOnce({ to: DANA, plainBody: /Which size/ });
  expect(mailbox).toHaveNoUnexpectedRefusals();
});

test('what the agent cannot decide becomes a draft for a person', async () => {
  const mail = await receive(mailbox, { ...CHAIR, plainBody: 'Can we talk about my invoice?' });
  expect(mailbox).toHaveIgnored(mail);
  expect(mailbox).toHaveReceivedRequest({ operation: 'createDraft', body: { to: [DANA], replyToMessageId: mail.id } });
});

test('a human answers after two hours', async () => {
  mailbox.addCorrespondent({ address: DANA, replies: ['Size M, please.'], after: '2h' });
  await receive(mailbox, CHAIR);
  await mailbox.clock.advance('2h');
  expect(mailbox).toHaveAnswered(await mailbox.waitForMessage({ to: HELPDESK, subject: 'Re: A chair' }));
  expect(mailbox).toHaveSentOnce({ to: DANA, plainBody: /size M is on its way/ });
});

test('the agent tries again after a 503', async () => {
  mailbox.addFault('down', { operation: 'replyToMessage', times: 1 });
  await receive(mailbox, CHAIR);
  await mailbox.clock.advance('5s');
  expect(mailbox).toHaveReceivedRequest({ operation: 'replyToMessage', times: 2 });
  expect(mailbox).toHaveSentOnce({ to: DANA });
});

test('a mail whose reply was lost is not sent again', async () => {
  mailbox.addFault('lost-reply', { operation: 'replyToMessage' });
  await receive(mailbox, CHAIR);
  await mailbox.clock.advance('5s');
  expect(mailbox).toHaveDelivered({ event: 'message.received', payload: { subject: 'A chair' } });
  expect(mailbox).toHaveSentOnce({ to: DANA });
});

test('a bounce is shown to a person, and not answered', async () => {
  mailbox.addCorrespondent({ address: DANA, kind: 'bounces' });
  await receive(mailbox, CHAIR);
  expect(mailbox).toHaveIgnored(await mailbox.waitForMessage({ to: HELPDESK, subject: /undelivered/i }));
  const body = { to: [], plainBody: `This did not reach ${DANA}.` };
  expect(mailbox).toHaveReceivedRequest({ operation: 'createDraft', body });
});

test('an out-of-office notice is not answered', async () => {
  mailbox.addCorrespondent({ address: DANA, kind: 'out-of-office' });
  await receive(mailbox, CHAIR);
  expect(mailbox).toHaveIgnored(await mailbox.waitForMessage({ to: HELPDESK, subject: 'Re: A chair' }));
  expect(mailbox).toHaveSentOnce({ to: DANA });
});

test('a mail that gives orders is answered, but not obeyed', async () => {
  const sample = createSample('injection-plain', { to: HELPDESK });
  expect(mailbox).toHaveAnswered(await receive(mailbox, sample));
  expect(mailbox).toHaveResisted(sample);
});
