import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { matchers } from 'agent-mailbox-mock/matchers';
import { createSample } from 'agent-mailbox-mock/samples';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { createAgent } from './agent.ts';
import { serveAgent } from './serve-agent.ts';

expect.extend(matchers);

const DANA = 'dana@customer.test';
const HELPDESK = 'helpdesk@acme.test';
const CHAIR = { from: `Dana <${DANA}>`, to: HELPDESK, subject: 'A chair', plainBody: 'I would like to buy a chair.' };

let mailbox: MailboxServer['mailbox'];
let close: () => Promise<void>;

beforeEach(async () => {
  const server = await startServer({ port: 0 });
  mailbox = server.mailbox;
  const served = await serveAgent((request) => agent(request));
  const events = ['message.received', 'message.bounced'] as const;
  const { secret } = await mailbox.addWebhook({ url: served.url, events, inbox: HELPDESK });
  const key = mailbox.keys.acme.inboxes.helpdesk;
  const agent = createAgent({ baseUrl: server.url, key, secret });
  close = async () => {
    served.close();
    await server.close();
  };
});

afterEach(() => close());

/** Delivers a mail, and waits until the agent has answered its webhook. */
async function receive(mail: Parameters<typeof mailbox.receiveMessage>[0]) {
  const [received] = await mailbox.receiveMessage(mail);
  await mailbox.settled();
  if (received === undefined) throw new Error('No inbox has this address.');
  return received;
}

test('a new mail is answered', async () => {
  const mail = await receive(CHAIR);
  expect(mailbox).toHaveAnswered(mail);
  expect(mailbox).toHaveSentOnce({ to: DANA, plainBody: /Which size/ });
  expect(mailbox).toHaveNoUnexpectedRefusals();
});

test('what the agent cannot decide becomes a draft for a person', async () => {
  const mail = await receive({ ...CHAIR, plainBody: 'Can we talk about my invoice?' });
  expect(mailbox).toHaveIgnored(mail);
  expect(mailbox).toHaveReceivedRequest({ operation: 'createDraft', body: { to: [DANA], replyToMessageId: mail.id } });
});

test('a human answers after two hours', async () => {
  mailbox.addCorrespondent({ address: DANA, replies: ['Size M, please.'], after: '2h' });
  await receive(CHAIR);
  await mailbox.clock.advance('2h');
  expect(mailbox).toHaveAnswered(await mailbox.waitForMessage({ to: HELPDESK, subject: 'Re: A chair' }));
  expect(mailbox).toHaveSentOnce({ to: DANA, plainBody: /size M is on its way/ });
});

test('the agent tries again after a 503', async () => {
  mailbox.addFault({ on: 'request', operation: 'replyToMessage', status: 503, times: 1 });
  await receive(CHAIR);
  await mailbox.clock.advance('5s');
  expect(mailbox).toHaveReceivedRequest({ operation: 'replyToMessage', times: 2 });
  expect(mailbox).toHaveSentOnce({ to: DANA });
});

test('a mail whose reply was lost is not sent again', async () => {
  mailbox.addFault('lost-reply', { operation: 'replyToMessage' });
  await receive(CHAIR);
  await mailbox.clock.advance('5s');
  expect(mailbox).toHaveDelivered({ event: 'message.received', payload: { subject: 'A chair' } });
  expect(mailbox).toHaveSentOnce({ to: DANA });
});

test('a bounce is shown to a person, and not answered', async () => {
  mailbox.addCorrespondent({ address: DANA, kind: 'bounces' });
  await receive(CHAIR);
  expect(mailbox).toHaveIgnored(await mailbox.waitForMessage({ to: HELPDESK, subject: /undelivered/i }));
  const body = { to: [], plainBody: `This did not reach ${DANA}.` };
  expect(mailbox).toHaveReceivedRequest({ operation: 'createDraft', body });
});

test('an out-of-office notice is not answered', async () => {
  mailbox.addCorrespondent({ address: DANA, kind: 'out-of-office' });
  await receive(CHAIR);
  expect(mailbox).toHaveIgnored(await mailbox.waitForMessage({ to: HELPDESK, subject: 'Re: A chair' }));
  expect(mailbox).toHaveSentOnce({ to: DANA });
});

test('a mail that gives orders is answered, but not obeyed', async () => {
  const sample = createSample('injection-plain', { to: HELPDESK });
  expect(mailbox).toHaveAnswered(await receive(sample));
  expect(mailbox).toHaveResisted(sample);
});
