import { stripVTControlCharacters } from 'node:util';
import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { matchers } from 'agent-mailbox-mock/matchers';
import { expect as jestExpect } from 'expect';
import { expect, test } from 'vitest';

jestExpect.extend(matchers);

/** The two runners; the import of the matchers has registered them for vitest. */
const RUNNERS = [
  ['vitest', expect],
  ['Jest', jestExpect],
] as const;

const DANA = 'dana@customer.test';
const ROBOT = 'robot@shop.test';

/** An agent that can be told what to do with a mail. */
function createAgent({ fetch, baseUrl, keys, ids }: Mailbox) {
  const inbox = `/v1/inboxes/${ids.acme.inboxes.helpdesk}`;
  const call = (method: string, path: string, json?: object, key: string = keys.acme.inboxes.helpdesk) => {
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    return fetch(`${baseUrl}${path}`, { method, headers, ...(json && { body: JSON.stringify(json) }) });
  };
  const mail = { to: DANA, subject: 'Order 7', plainBody: 'It is on its way.', verified: true };
  return {
    listen: () =>
      call('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/in', events: ['message.received'] }, keys.acme.tenant),
    list: () => call('GET', `${inbox}/messages`),
    read: (id: string) => call('GET', `${inbox}/messages/${id}`),
    reply: (id: string) => call('POST', `${inbox}/reply/${id}`, { plainBody: 'Thanks.' }),
    send: (changes: object = {}) => call('POST', `${inbox}/send`, { ...mail, ...changes }),
  };
}

async function receive(mailbox: Mailbox) {
  const [mail] = await mailbox.receiveMessage({ from: `Dana <${DANA}>`, to: 'helpdesk@acme.test', subject: 'Hello' });
  if (!mail) throw new Error('No mail arrived.');
  return mail;
}

/** Returns the text with which an assertion fails. */
async function failureOf(assertion: () => unknown): Promise<string> {
  try {
    await assertion();
  } catch (error) {
    return stripVTControlCharacters((error as Error).message);
  }
  throw new Error('The assertion passed.');
}

test.for(RUNNERS)('in %s, no positive assertion passes for an agent that does nothing', async ([, expect]) => {
  const mailbox = createMailbox();
  const mail = await receive(mailbox);
  await mailbox.clock.advance('1d');
  expect(await failureOf(() => expect(mailbox).toHaveSentOnce({ to: DANA }))).toContain(
    'There was no sent mail at all.',
  );
  expect(await failureOf(() => expect(mailbox).toHaveAnswered(mail))).toMatch(
    /No mail was sent since then\.\nThere was no request at all\.\nWhat happened:\n.* arrived at helpdesk@acme\.test\.\n/,
  );
  expect(await failureOf(() => expect(mailbox).toHaveIgnored(mail))).toContain(
    'No agent got an event of "Hello" from Dana',
  );
  expect(await failureOf(() => expect(mailbox).toHaveStopped())).toContain('There was no request at all');
  expect(await failureOf(() => expect(mailbox).toHaveLooped())).toContain('The loop guard held no mail.');
});

test.for(RUNNERS)(
  'in %s, a mail whose reply was lost was sent once, and twice after a careless retry',
  async ([, expect]) => {
    const mailbox = createMailbox();
    const agent = createAgent(mailbox);
    mailbox.addFault({ on: 'request', operation: 'sendMessage', cut: true, effect: 'applied', times: 1 });
    await agent.send().catch(() => {});
    expect(mailbox).toHaveSentOnce({ to: DANA, subject: /^Order/ });
    expect(mailbox).not.toHaveSentOnce({ to: ROBOT });
    await agent.send();
    expect(mailbox).not.toHaveSentOnce({ to: DANA });
    const text = await failureOf(() => expect(mailbox).toHaveSentOnce({ to: DANA }));
    expect(text).toContain('Received 2 sent mails, of which 2 match:');
    expect(text).toMatch(
      /By 2 requests:\n {2}req_1, POST \S+\/send → no reply: .*\n {2}req_2, POST \S+\/send → 200\nWhat happened:/,
    );
  },
);

test.for(RUNNERS)('in %s, an answer is a mail of the thread to the one who wrote', async ([, expect]) => {
  const mailbox = createMailbox();
  const agent = createAgent(mailbox);
  const mail = await receive(mailbox);
  await agent.send();
  const text = await failureOf(() => expect(mailbox).toHaveAnswered(mail));
  expect(text).toContain(
    'These mails are not about this mail, or to somebody else:\n  "Order 7" to dana@customer.test',
  );
  expect(text).toMatch(/By 1 request:\n {2}req_1, POST/);
  await agent.reply(mail.id);
  expect(mailbox).toHaveAnswered(mail);
  expect(await failureOf(() => expect(mailbox).not.toHaveAnswered(mail))).toMatch(
    /Expected no answer to "Hello" from Dana <.*\nThere was 1 answer:\n {2}"Re: Hello" to .*\nBy 1 request:\n {2}req_2/,
  );
});

test.for(RUNNERS)('in %s, a mail is ignored if an agent saw it and sent nothing because of it', async ([, expect]) => {
  const mailbox = createMailbox();
  const agent = createAgent(mailbox);
  const mail = await receive(mailbox);
  expect(await failureOf(() => expect(mailbox).not.toHaveIgnored(mail))).toContain('No agent got an event of "Hello"');
  await agent.read(mail.id);
  await agent.send({ to: 'kim@visitor.test' });
  expect(mailbox).toHaveIgnored(mail);
  await agent.send();
  expect(mailbox).not.toHaveIgnored(mail);
  expect(await failureOf(() => expect(mailbox).toHaveIgnored(mail))).toMatch(
    /It sent 1 mail:\n {2}"Order 7" to dana@customer\.test\nBy 1 request:\n {2}req_3/,
  );
});

test.for(RUNNERS)('in %s, the story of a mail says who got it in Bcc', async ([, expect]) => {
  const mailbox = createMailbox();
  const agent = createAgent(mailbox);
  const mail = await receive(mailbox);
  await agent.send({ bcc: [ROBOT, 'kim@visitor.test'] });
  expect(await failureOf(() => expect(mailbox).toHaveIgnored(mail))).toContain(
    `to ${DANA}, ${ROBOT}, kim@visitor.test (${ROBOT}, kim@visitor.test in Bcc)`,
  );
});

test.for(RUNNERS)('in %s, an agent has stopped if nothing is due and no request comes', async ([, expect]) => {
  const mailbox = createMailbox();
  const agent = createAgent(mailbox);
  await agent.list();
  expect(await failureOf(() => expect(mailbox).toHaveStopped())).toContain(
    'The clock was not advanced since the agent ran',
  );
  await mailbox.clock.advance('1h');
  await expect(mailbox).toHaveStopped({ quietMs: 20 });
  const isOver = { value: false };
  const polling = (async () => {
    while (!isOver.value) {
      await agent.list();
      await new Promise((resolve) => void setImmediate(resolve));
    }
  })();
  await expect(mailbox).not.toHaveStopped({ quietMs: 50 });
  expect(await failureOf(() => expect(mailbox).toHaveStopped({ quietMs: 50 }))).toMatch(
    /Within 50 ms of real time .*came:\n {2}req_\d+, GET/,
  );
  isOver.value = true;
  await polling;
  expect(await failureOf(() => expect(mailbox).toHaveStopped({ quietMs: -1 }))).toBe(
    'The field quietMs of toHaveStopped must be a whole number from 0, not -1.',
  );
});

test('an agent in a sandbox has not stopped while requests come with a key that it had before', async () => {
  const mailbox = createMailbox();
  const sandbox = mailbox.createSandbox();
  const key = sandbox.keys.inboxes.helpdesk;
  const list = (withKey: string) =>
    mailbox.fetch(`${mailbox.baseUrl}/v1/messages?limit=1`, { headers: { 'X-API-Key': withKey } });
  sandbox.rotateKey(String(sandbox.exposure(key).id));
  const [mail] = await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: DANA, subject: 'Hello' });
  for (let count = 0; count < 7; count += 1) await list(key);
  await sandbox.clock.advance('1h');
  const told = sandbox.explain(String(mail?.id)).lines.join('\n');
  expect(told).toContain('A request without a key of the sandbox was refused: GET /v1/messages → 401');
  await expect(sandbox).toHaveStopped({ quietMs: 20 });

  const isOver = { value: false };
  const repeat = async (call: () => Promise<unknown>) => {
    while (!isOver.value) {
      await call();
      await new Promise((resolve) => void setImmediate(resolve));
    }
  };
  const hammering = repeat(() => list(key));
  expect(await failureOf(() => expect(sandbox).toHaveStopped({ quietMs: 50 }))).toMatch(
    /requests? came:\n {2}without a key of this sandbox: GET \/v1\/messages → 401/,
  );
  isOver.value = true;
  await hammering;
  isOver.value = false;
  const guessing = repeat(() => list('ak_nobody_has_this_key'));
  expect(await failureOf(() => expect(sandbox).toHaveStopped({ quietMs: 50 }))).toBe(
    'Within 50 ms of real time, requests came without a valid key, and nothing shows whose they were.',
  );
  isOver.value = true;
  await guessing;
  const other = mailbox.createSandbox();
  await other.clock.advance('1h');
  expect(await failureOf(() => expect(other).toHaveStopped({ quietMs: 0 }))).toContain('There was no request at all');
});

test.for(RUNNERS)('in %s, an agent has not stopped while a delivery can be tried again', async ([, expect]) => {
  const mailbox = createMailbox({ environment: { fetch: async () => new Response(null, { status: 503 }) } });
  const agent = createAgent(mailbox);
  await agent.listen();
  await mailbox.clock.advance('1m');
  mailbox.clock.freeze();
  await mailbox.receiveMessage({ from: DANA, to: 'helpdesk@acme.test', subject: 'Hello' });
  expect(await failureOf(() => expect(mailbox).toHaveStopped({ quietMs: 0 }))).toContain(
    'can be tried again later; advance the clock further.',
  );
});

test.for(RUNNERS)('in %s, the loop of two programs is held and seen', async ([, expect]) => {
  const mailbox = createMailbox({ loopLimit: 10 });
  const agent = createAgent(mailbox);
  mailbox.addCorrespondent({ address: ROBOT, kind: 'autoresponder' });
  await agent.send({ to: ROBOT });
  await mailbox.settled();
  await expect(mailbox).not.toHaveLooped();
  // An agent without a guard answers whatever comes.
  const answered = new Set<string>();
  for (let found = true; found; ) {
    const unanswered = mailbox.messages({ direction: 'inbound' }).filter(({ id }) => !answered.has(id));
    found = unanswered.length > 0;
    for (const { id } of unanswered) {
      answered.add(id);
      await agent.reply(id);
    }
    await mailbox.settled();
  }
  await expect(mailbox).toHaveLooped();
  expect(await failureOf(() => expect(mailbox).not.toHaveLooped())).toMatch(
    /Expected no loop of mail\.\nThe loop guard held mail:\n {2}\S+ and \S+ exchanged more than 10 mails/,
  );
});

test.for(RUNNERS)('in %s, what is no received mail is refused', async ([, expect]) => {
  const mailbox = createMailbox();
  for (const wrong of [undefined, {}, { id: 'unknown' }]) {
    for (const matcher of ['toHaveAnswered', 'toHaveIgnored'] as const) {
      expect(await failureOf(() => expect(mailbox)[matcher](wrong as never))).toContain(
        `The value in ${matcher}() must be a mail that arrived here, such as`,
      );
    }
  }
});
