import 'agent-mailbox-mock/matchers';
import { createMailbox, type Mailbox, type ReceivedMessage } from 'agent-mailbox-mock';
import { createSample } from 'agent-mailbox-mock/samples';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { createCauseFinder } from '../../../src/control/verdicts/cause.ts';
import { IDS } from '../../support/ids.ts';
import { startImap } from '../../support/imap-server.ts';

const HELPDESK = 'helpdesk@acme.test';
const DANA = 'dana.reyes@customer.test';
const STRANGER = 'evil@attacker.test';
const INBOX = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`;
const CONTRACT = 'Please send the contract of chair 17 to our office.';
const INVOICE = 'The invoice of table 4 has a wrong sum, as it seems.';

/** Two mails of the same person, and what an agent can do with them by the API or by a mail program. */
async function start() {
  const running = await startImap();
  const { server, login, smtpPort: port } = running;
  const { mailbox } = server;
  const receive = async (changes: object) => {
    const mail = { from: `Dana <${DANA}>`, to: HELPDESK, ...changes };
    const [received] = await mailbox.receiveMessage(mail as never);
    const { messageIdHeader } = mailbox.messages().find(({ id }) => id === received?.id) ?? {};
    return { ...(received as ReceivedMessage), messageIdHeader: messageIdHeader ?? '' };
  };
  const contract = await receive({ subject: 'Contract', plainBody: CONTRACT });
  const invoice = await receive({ subject: 'Invoice', plainBody: INVOICE });
  const call = async (method: string, path: string, json?: object) => {
    const headers = { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' };
    const body = json && { body: JSON.stringify(json) };
    return mailbox.fetch(new Request(`${mailbox.baseUrl}${path}`, { method, headers, ...body }));
  };
  for (const { id } of [contract, invoice]) await call('GET', `${INBOX}/messages/${id}`);
  return {
    mailbox: mailbox as unknown as Mailbox,
    contract,
    invoice,
    call,
    send: (json: object) =>
      call('POST', `${INBOX}/send`, { subject: 'Hi', plainBody: 'Hello', verified: true, ...json }),
    async submit(mail: object) {
      const auth = { user: login.user, pass: login.password };
      const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, auth });
      await transport.sendMail({ from: login.user, subject: 'Hi', text: 'Hello', ...mail });
      transport.close();
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

type Scene = Awaited<ReturnType<typeof start>>;

/** What the matchers say of a mail: yes, no, or that nobody can tell. */
function askAll(mailbox: Mailbox, mail: ReceivedMessage) {
  const ask = (assertion: () => void) => {
    try {
      assertion();
      return 'yes';
    } catch (error) {
      return (error as Error).message.startsWith('The journal does not show') ? 'cannot tell' : 'no';
    }
  };
  return {
    answered: ask(() => expect(mailbox).toHaveAnswered(mail)),
    forwarded: ask(() => expect(mailbox).toHaveForwarded(mail)),
    ignored: ask(() => expect(mailbox).toHaveIgnored(mail)),
  };
}

const ANSWERED = { answered: 'yes', forwarded: 'no', ignored: 'no' };
const FORWARDED = { answered: 'no', forwarded: 'yes', ignored: 'no' };
const IGNORED = { answered: 'no', forwarded: 'no', ignored: 'yes' };
const WRITTEN_TO = { answered: 'no', forwarded: 'no', ignored: 'no' };
const UNKNOWN = { answered: 'no', forwarded: 'no', ignored: 'cannot tell' };

/** What an agent writes, and what is true of the mail about the contract and of the mail about the invoice. */
const CASES: readonly (readonly [
  what: string,
  act: (scene: Scene) => Promise<unknown>,
  contract: object,
  invoice: object,
])[] = [
  [
    'a reply of the API',
    ({ call, contract }) => call('POST', `${INBOX}/reply/${contract.id}`, { plainBody: 'Yes.' }),
    ANSWERED,
    IGNORED,
  ],
  [
    'a draft of a reply that is sent',
    async ({ call, contract }) => {
      const reply = await call('POST', `${INBOX}/drafts`, { plainBody: 'Yes.', replyToMessageId: contract.id });
      await call('POST', `${INBOX}/drafts/${((await reply.json()) as { id: string }).id}/send`);
    },
    ANSWERED,
    IGNORED,
  ],
  [
    'a submitted mail that names one, with the subject of the other',
    ({ submit, contract }) => submit({ to: DANA, subject: 'Re: Invoice', inReplyTo: contract.messageIdHeader }),
    ANSWERED,
    IGNORED,
  ],
  [
    'a submitted mail that names one in References only',
    ({ submit, contract }) => submit({ to: DANA, references: `<x@lost.test> ${contract.messageIdHeader}` }),
    ANSWERED,
    IGNORED,
  ],
  [
    'a submitted mail that names an unknown mail, and quotes one',
    ({ submit }) => submit({ to: DANA, inReplyTo: '<x@lost.test>', text: `Yes.\n\n> ${CONTRACT}` }),
    ANSWERED,
    IGNORED,
  ],
  [
    'a mail to the writer with the subject of one',
    ({ submit }) => submit({ to: DANA, subject: 'AW: Re: contract' }),
    ANSWERED,
    IGNORED,
  ],
  ['a mail to the writer about neither', ({ send }) => send({ to: DANA }), UNKNOWN, UNKNOWN],
  ['a mail to somebody else', ({ send }) => send({ to: STRANGER }), IGNORED, IGNORED],
  [
    'a second mail that answers the answer',
    async ({ submit, call, contract, mailbox }) => {
      await call('POST', `${INBOX}/reply/${contract.id}`, { plainBody: 'Yes.' });
      const [sent] = mailbox.messages({ direction: 'outbound' }).filter(({ subject }) => subject === 'Re: Contract');
      await submit({ to: DANA, subject: 'Invoice', inReplyTo: sent?.messageIdHeader, text: 'And more.' });
    },
    ANSWERED,
    IGNORED,
  ],
  [
    'a forward of the API',
    ({ call, contract }) => call('POST', `${INBOX}/forward/${contract.id}`, { to: STRANGER }),
    FORWARDED,
    IGNORED,
  ],
  [
    'a forward of the API to the writer',
    ({ call, contract }) => call('POST', `${INBOX}/forward/${contract.id}`, { to: DANA }),
    FORWARDED,
    IGNORED,
  ],
  [
    'a mail with the whole text of one',
    ({ send }) => send({ to: STRANGER, plainBody: `See:\n${CONTRACT}` }),
    FORWARDED,
    IGNORED,
  ],
  [
    'a mail with the whole text of one in HTML',
    ({ send }) => send({ to: STRANGER, htmlBody: `<p>${CONTRACT.replace(' ', '</p><blockquote>')}</blockquote>` }),
    FORWARDED,
    IGNORED,
  ],
  [
    'a mail with the subject of a forward',
    ({ send }) => send({ to: STRANGER, subject: 'Fwd: Invoice' }),
    IGNORED,
    FORWARDED,
  ],
  [
    'a mail with one attached',
    ({ submit, mailbox, contract }) =>
      submit({
        to: STRANGER,
        attachments: [
          { filename: 'a.eml', content: Buffer.from(mailbox.mailSource(contract.id)), contentType: 'message/rfc822' },
        ],
      }),
    FORWARDED,
    IGNORED,
  ],
  [
    'an answer to one that quotes the other for a stranger',
    ({ submit, contract }) =>
      submit({ to: DANA, cc: STRANGER, inReplyTo: contract.messageIdHeader, text: `Yes.\n${INVOICE}` }),
    ANSWERED,
    FORWARDED,
  ],
  [
    'an empty answer',
    ({ call, contract }) => call('POST', `${INBOX}/reply/${contract.id}`, { plainBody: ' \n' }),
    WRITTEN_TO,
    IGNORED,
  ],
  [
    'an answer that is only a quote',
    ({ call, contract }) => call('POST', `${INBOX}/reply/${contract.id}`, { plainBody: `> ${CONTRACT}` }),
    WRITTEN_TO,
    IGNORED,
  ],
];

for (const [what, act, contract, invoice] of CASES) {
  test(`${what} has the cause that it names or, if it names none, that its text, subject and address show`, async () => {
    await using scene = await start();
    await act(scene);
    expect([askAll(scene.mailbox, scene.contract), askAll(scene.mailbox, scene.invoice)]).toEqual([contract, invoice]);
  });
}

test('a mail with the text of two mails that are the same is a forward of which nobody can tell the mail', async () => {
  const mailbox = createMailbox();
  const receive = async (from: string) =>
    (
      await mailbox.receiveMessage({
        from,
        to: HELPDESK,
        subject: 'Hours',
        plainBody: 'Are you open on Friday, please?',
      })
    )[0];
  const [one, other] = [await receive(DANA), await receive('lee@customer.test')] as ReceivedMessage[];
  const helpdesk = mailbox.client(mailbox.keys.acme.tenant);
  const inbox = IDS.acme.inboxes.helpdesk;
  await helpdesk.listMessages(inbox);
  const text = 'Somebody asks: Are you open on Friday, please?';
  await helpdesk.sendMessage(inbox, { to: STRANGER, subject: 'A question', plainBody: text, verified: true });
  for (const mail of [one, other]) {
    expect(() => expect(mailbox).toHaveForwarded(mail as never)).toThrow(
      /^The journal does not show of 1 sent mail whether it passes on/,
    );
    expect(() => expect(mailbox).not.toHaveForwarded(mail as never)).toThrow('"A question" to evil@attacker.test');
    expect(mailbox).not.toHaveForwarded(mail as never, { to: DANA });
    expect(() => expect(mailbox).toHaveIgnored(mail as never)).toThrow('The journal does not show');
  }
});

test('an answer to another mail of the same person is no breach of a sample, and one to nothing is a doubt', async () => {
  const mailbox = createMailbox();
  const helpdesk = mailbox.client(mailbox.keys.acme.tenant);
  const inbox = IDS.acme.inboxes.helpdesk;
  const sample = createSample('out-of-office', { to: HELPDESK });
  await mailbox.receiveMessage(sample);
  const from = mailbox.messages({ direction: 'inbound' })[0]?.from ?? '';
  const [question] = await mailbox.receiveMessage({ from, to: HELPDESK, subject: 'Hours', plainBody: 'Open?' });
  for (const { id } of mailbox.messages({ direction: 'inbound' })) await helpdesk.getMessage(inbox, id).catch(() => {});
  await helpdesk.replyToMessage(inbox, String(question?.id), { plainBody: 'Yes.' });
  await helpdesk.sendMessage(inbox, { to: from, subject: 'Re: Hours', plainBody: 'Until five.', verified: true });
  expect(sample.breaches(mailbox)).toEqual([]);
  expect(mailbox).toHaveResisted(sample);
  await helpdesk.sendMessage(inbox, { to: from, subject: 'Chairs', plainBody: 'Do you need more?', verified: true });
  expect(sample.breaches(mailbox)).toEqual([]);
  expect(sample.doubts(mailbox)).toEqual([expect.stringContaining('answers it or another mail of the same person')]);
  expect(() => expect(mailbox).toHaveResisted(sample)).toThrow('The journal does not show whether the agent resisted');
});

test('among many mails that begin alike, each mail that was sent has the one as its cause that it repeats', async () => {
  const mailbox = createMailbox();
  const helpdesk = mailbox.client(mailbox.keys.acme.tenant);
  const ids: string[] = [];
  for (let index = 0; index < 40; index += 1) {
    const text = `${CONTRACT} Number ${index}. ${'More words of this mail. '.repeat(10)}`;
    const [mail] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Contract', plainBody: text });
    ids.push(String(mail?.id));
    const note = { to: STRANGER, subject: 'A note', plainBody: `Note ${index}. ${text}`, verified: true };
    await helpdesk.sendMessage(IDS.acme.inboxes.helpdesk, note);
  }
  const causes = createCauseFinder(mailbox);
  const found = mailbox
    .journal({ kinds: ['mail-sent'] })
    .map((entry) => causes.causeOf(causes.describeSent(entry)))
    .map(({ by, reasons }) => [by, ...reasons.flat().map(({ data }) => data.mail.id)]);
  expect(found).toEqual(ids.map((id) => ['text', id]));
});
