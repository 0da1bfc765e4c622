import { stripVTControlCharacters } from 'node:util';
import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { matchers } from 'agent-mailbox-mock/matchers';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { startServer } from 'agent-mailbox-mock/server';
import { expect as jestExpect } from 'expect';
import { expect, test } from 'vitest';

jestExpect.extend(matchers);

const HOOK = { url: 'http://127.0.0.1:9/in', events: ['message.received'] };
const DANA = 'dana@customer.test';

/** The two runners; the import of the matchers has registered them for vitest. */
const RUNNERS = [
  ['vitest', expect],
  ['Jest', jestExpect],
] as const;

function call({ fetch, baseUrl }: Mailbox, key: string, method: string, path: string, json?: object) {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  return fetch(new Request(`${baseUrl}/v1${path}`, { method, headers, ...(json && { body: JSON.stringify(json) }) }));
}

/** Creates a mailbox that got three requests, of which it refused the last, and sent one mail. */
async function createBusy() {
  const mailbox = createMailbox();
  const { keys, ids } = mailbox;
  const mail = { to: `Dana <${DANA}>`, subject: 'Order 7', plainBody: 'Thanks.', verified: true };
  await call(mailbox, keys.acme.tenant, 'POST', '/webhooks', HOOK);
  await call(mailbox, keys.acme.inboxes.helpdesk, 'POST', `/inboxes/${ids.acme.inboxes.helpdesk}/send`, mail);
  await call(mailbox, keys.acme.workspaces.sales, 'DELETE', `/webhooks/${ids.acme.webhooks.support}`);
  return mailbox;
}

/** Returns the text with which an assertion fails. */
function failureOf(assertion: () => unknown): string {
  try {
    assertion();
  } catch (error) {
    return stripVTControlCharacters((error as Error).message);
  }
  throw new Error('The assertion passed.');
}

const SEND = 'req_2, POST /v1/inboxes/ac3e0000-0003-4000-8000-000000000001/send → 200';
const REFUSED =
  'req_3, DELETE /v1/webhooks/ac3e0000-0005-4000-8000-000000000002 → 404 NOT_FOUND: ' +
  'Workspace key of Sales; the webhook with this id belongs to Support (section 5; choice errors.foreign-resource).';

test.for(RUNNERS)(
  'in %s, what happened passes, with asymmetric matchers and regular expressions',
  async ([, expect]) => {
    const mailbox = await createBusy();
    const body = { url: expect.stringContaining('127.0.0.1'), events: expect.arrayContaining(['message.received']) };
    expect(mailbox).toHaveReceivedRequest({ operation: 'createWebhook', body, times: 1 });
    expect(mailbox).toHaveReceivedRequest({ body: { events: [/^message\./] }, headers: { 'content-type': /json/ } });
    expect(mailbox).toHaveReceivedRequest({ times: 3 });
    expect(mailbox).not.toHaveReceivedRequest({ operation: 'listWebhooks' });
    expect(mailbox).toHaveReceivedRequest({ operation: 'listWebhooks', times: 0 });
    expect(mailbox).toHaveSentMail({
      to: DANA,
      subject: expect.stringMatching(/order/i),
      from: /^helpdesk@|<helpdesk@/,
    });
    expect(mailbox).toHaveSentMail({ to: [`Dana <${DANA}>`], attachments: [], times: 1 });
    expect(mailbox).not.toHaveSentMail({ to: [DANA, 'kim@visitor.test'] });
    expect(mailbox).toHaveNoUnexpectedRefusals({ except: [{ status: 404 }] });
    expect(mailbox).not.toHaveNoUnexpectedRefusals();
  },
);

test.for(RUNNERS)('in %s, a missing request is explained by the nearest one', async ([, expect]) => {
  const mailbox = await createBusy();
  const expected = { operation: 'createWebhook', body: { url: HOOK.url, events: ['message.sent'] } } as const;
  const text = failureOf(() => expect(mailbox).toHaveReceivedRequest(expected));
  const [head, rest] = text.split(/^ {2}body: [\s\S]*?(?=^Received)/m);
  expect(head).toBe(
    'expect(mailbox).toHaveReceivedRequest(expected)\n\nExpected at least 1 request with:\n  operation: "createWebhook"\n',
  );
  expect(rest).toBe(`Received 3 requests, of which none matches.
The nearest is req_1, POST /v1/webhooks → 201
  body.events[0]
    expected: "message.sent"
    received: "message.received"
The others:
  ${REFUSED}
  ${SEND}`);
});

test.for(RUNNERS)('in %s, too many and too few requests are listed', async ([, expect]) => {
  const mailbox = await createBusy();
  expect(
    failureOf(() => expect(mailbox).toHaveReceivedRequest({ status: 404, times: 2 })),
  ).toBe(`expect(mailbox).toHaveReceivedRequest(expected)

Expected exactly 2 requests with:
  status: 404
Received 3 requests, of which 1 matches:
  ${REFUSED}
The nearest is req_1, POST /v1/webhooks → 201
  status
    expected: 404
    received: 201
The others:
  ${SEND}`);
  expect(
    failureOf(() => expect(mailbox).toHaveReceivedRequest({ method: 'POST', times: 1 })),
  ).toBe(`expect(mailbox).toHaveReceivedRequest(expected)

Expected exactly 1 request with:
  method: "POST"
Received 3 requests, of which 2 match:
  req_1, POST /v1/webhooks → 201
  ${SEND}`);
});

test.for(RUNNERS)('in %s, a request that must not be there is shown', async ([, expect]) => {
  const mailbox = await createBusy();
  const text = failureOf(() => expect(mailbox).not.toHaveReceivedRequest({ operation: 'createWebhook' }));
  expect(text).toBe(`expect(mailbox).not.toHaveReceivedRequest(expected)

Expected no request with:
  operation: "createWebhook"
Received 3 requests, of which 1 matches:
  req_1, POST /v1/webhooks → 201`);
});

test.for(RUNNERS)('in %s, a missing mail is explained by what was sent', async ([, expect]) => {
  const mailbox = await createBusy();
  const text = failureOf(() => expect(mailbox).toHaveSentMail({ to: 'kim@visitor.test', subject: 'Order 7' }));
  expect(text).toBe(`expect(mailbox).toHaveSentMail(expected)

Expected at least 1 sent mail with:
  to: "kim@visitor.test"
  subject: "Order 7"
Received 1 sent mail, of which none matches.
The nearest is "Order 7" to Dana <dana@customer.test>
  to
    expected: "kim@visitor.test"
    received: "Dana <dana@customer.test>"`);
  expect(failureOf(() => expect(createMailbox()).toHaveSentMail())).toBe(
    'expect(mailbox).toHaveSentMail(expected)\n\nExpected at least 1 sent mail.\nThere was no sent mail at all.',
  );
});

test.for(RUNNERS)('in %s, a delivery that is still pending is said to be so', async ([, expect]) => {
  await using server = await startServer({ port: 0 });
  await using receiver = createReceiver();
  const { mailbox } = server;
  const url = await receiver.listen();
  const reply = await call(mailbox, mailbox.keys.globex.tenant, 'POST', '/webhooks', { ...HOOK, url });
  const { id } = await reply.json();
  await mailbox.receiveMessage({ to: 'info@globex.test', from: DANA });
  expect(
    failureOf(() => expect(mailbox).toHaveDelivered({ event: 'message.received', to: id })),
  ).toBe(`expect(mailbox).toHaveDelivered(expected)

Expected at least 1 delivery with:
  event: "message.received"
  to: "${id}"
  state: "delivered"
Received 1 delivery, of which none matches.
The nearest is message.received to webhook ${id} (pending)
  state
    expected: "delivered"
    received: "pending"
It is still pending; await settled() before this assertion.`);
  await mailbox.settled();
  expect(mailbox).toHaveDelivered({ event: 'message.received', to: url, payload: { from: DANA }, times: 1 });
  expect(mailbox).not.toHaveDelivered({ event: 'message.sent' });
});

test.for(RUNNERS)('in %s, a delivery whose attempt failed is said to be so', async ([, expect]) => {
  await using server = await startServer({ port: 0 });
  await using receiver = createReceiver();
  const { mailbox } = server;
  receiver.answer(503);
  mailbox.clock.freeze('2026-03-01T09:00:00Z');
  await call(mailbox, mailbox.keys.globex.tenant, 'POST', '/webhooks', { ...HOOK, url: await receiver.listen() });
  await mailbox.receiveMessage({ to: 'info@globex.test', from: DANA });
  await mailbox.settled();
  expect(failureOf(() => expect(mailbox).toHaveDelivered({ event: 'message.received' }))).toMatch(
    /^It is still pending\. The last attempt failed: The receiver answered 503\. The next is due at 2026-03-01T09:\S+Z; go there by clock\.advance\(\)\.$/m,
  );
});

test.for(RUNNERS)('in %s, a key may be given in full, and headers in any letter case', async ([, expect]) => {
  const mailbox = await createBusy();
  const { sales, support } = mailbox.keys.acme.workspaces;
  expect(mailbox).toHaveReceivedRequest({ key: sales, times: 1 });
  expect(mailbox).not.toHaveReceivedRequest({ key: support });
  expect(mailbox).toHaveReceivedRequest({ key: 'wk_acme_…', times: 1 });
  expect(mailbox).toHaveReceivedRequest({ key: expect.stringMatching(/^wk_/), times: 1 });
  expect(mailbox).toHaveNoUnexpectedRefusals({ except: [{ key: sales }] });
  expect(mailbox).not.toHaveNoUnexpectedRefusals({ except: [{ key: support }] });
  expect(mailbox).toHaveReceivedRequest({ headers: { 'X-API-Key': expect.any(String) }, times: 3 });
  expect(mailbox).toHaveReceivedRequest({ headers: { 'X-API-Key': 'wk_acme_…' }, times: 1 });
  expect(failureOf(() => expect(mailbox).not.toHaveReceivedRequest({ headers: { 'X-API-Key': sales } }))).toBe(
    'The field headers of toHaveReceivedRequest has a key, secret or login, which the journal masks; write it as the journal shows it, such as tk_acme_….',
  );
});

test.for(RUNNERS)('in %s, a mailbox without a journal is an error', ([, expect]) => {
  const mailbox = createMailbox({ journalSize: 0 });
  const message = 'The journal records no requests, because journalSize is 0.';
  expect(failureOf(() => expect(mailbox).toHaveNoUnexpectedRefusals())).toBe(message);
  expect(failureOf(() => expect(mailbox).not.toHaveNoUnexpectedRefusals())).toBe(message);
  expect(failureOf(() => expect(mailbox).not.toHaveReceivedRequest({ method: 'GET' }))).toBe(message);
});

test.for(RUNNERS)('in %s, unexpected refusals are listed with their reasons', async ([, expect]) => {
  const mailbox = await createBusy();
  await call(mailbox, 'tk_wrong', 'GET', '/webhooks');
  const wrong = 'req_4, GET /v1/webhooks → 401 UNAUTHORIZED';
  const text = failureOf(() => expect(mailbox).toHaveNoUnexpectedRefusals());
  expect(text).toContain(`\n\nExpected no refusal, but there were 2 in 4 requests:\n  ${REFUSED}\n  ${wrong}`);
  const except = [{ operation: 'deleteWebhook', times: 1 }] as const;
  expect(failureOf(() => expect(mailbox).toHaveNoUnexpectedRefusals({ except }))).toMatch(
    /^Expected no refusal besides those in except, but there was 1 in 4 requests:\n {2}req_4,/m,
  );
  const quiet = createMailbox();
  for (const assertion of [expect(quiet), expect(quiet).not]) {
    expect(failureOf(() => assertion.toHaveNoUnexpectedRefusals())).toBe(
      'There was no request at all, so nothing shows that an agent was refused nothing.',
    );
  }
  await call(quiet, 'tk_acme_tenant_key', 'GET', '/webhooks');
  expect(failureOf(() => expect(quiet).not.toHaveNoUnexpectedRefusals())).toMatch(
    /^Expected a refusal, and there was none\.$/m,
  );
  expect(mailbox).toHaveNoUnexpectedRefusals({ except: [...except, { code: 'UNAUTHORIZED' }] });
});

test.for(RUNNERS)('in %s, a mistake in the assertion is an error, also with not', ([, expect]) => {
  const mailbox = createMailbox();
  const mistakes = [
    [{ topic: 'x' }, /^The matcher toHaveSentMail has no field topic; its fields are to, recipients, .* and times\.$/],
    [
      { times: -1 },
      /^The field times of toHaveSentMail must be a whole number from 0, or an object with min, max or both, not -1\.$/,
    ],
  ] as const;
  for (const [expected, message] of mistakes) {
    expect(failureOf(() => expect(mailbox).toHaveSentMail(expected as never))).toMatch(message);
    expect(failureOf(() => expect(mailbox).not.toHaveSentMail(expected as never))).toMatch(message);
  }
  const refusals = [
    [{ times: 1 }, 'The matcher toHaveNoUnexpectedRefusals has no field times; its only field is except.'],
    [null, 'The matcher toHaveNoUnexpectedRefusals needs an object of fields.'],
    [{ except: null }, 'The field except of toHaveNoUnexpectedRefusals must be an array of requests.'],
    [{ except: { status: 404 } }, 'The field except of toHaveNoUnexpectedRefusals must be an array of requests.'],
    [{ except: [null] }, 'The field except[0] of toHaveNoUnexpectedRefusals needs an object of fields.'],
    [
      { except: [{}, { x: 1 }] },
      /^The field except\[1\] of toHaveNoUnexpectedRefusals has no field x; its fields are /,
    ],
    [
      { except: [{ operation: 'creatWebhook' }] },
      /operation must be the name of an operation; did you mean createWebhook/,
    ],
  ] as const;
  for (const [options, message] of refusals) {
    expect(failureOf(() => expect(mailbox).toHaveNoUnexpectedRefusals(options as never))).toMatch(message);
    expect(failureOf(() => expect(mailbox).not.toHaveNoUnexpectedRefusals(options as never))).toMatch(message);
  }
  for (const [operation, event] of [['creatWebhook', 'message.recieved']] as never[][]) {
    expect(failureOf(() => expect(mailbox).not.toHaveReceivedRequest({ operation }))).toMatch(
      /^The filter is not valid: /,
    );
    expect(failureOf(() => expect(mailbox).not.toHaveDelivered({ event }))).toMatch(/event must be one of message\./);
  }
  expect(failureOf(() => expect(mailbox).toHaveReceivedRequest(null as never))).toMatch(/needs an object of fields/);
  expect(failureOf(() => expect('a mailbox').not.toHaveSentMail())).toBe(
    'The value in expect() must be a mailbox or a sandbox, such as server.mailbox.',
  );
});

test.for(RUNNERS)('in %s, many candidates are shortened', async ([, expect]) => {
  const mailbox = createMailbox();
  for (let count = 0; count < 13; count += 1) await call(mailbox, mailbox.keys.acme.tenant, 'GET', '/webhooks');
  const text = failureOf(() => expect(mailbox).toHaveReceivedRequest({ operation: 'createWebhook' }));
  expect(text).toMatch(/The others:\n(?: {2}req_\d+, GET .*\n){10} {2}and 2 more$/);
});

test.for(RUNNERS)('in %s, a mail cannot control the terminal through a message', async ([, expect]) => {
  const mailbox = createMailbox();
  const { keys, ids } = mailbox;
  const subject = '\u009b2J\u202e\u2028\u007f\u001b]0;title\u0007';
  const mail = { to: DANA, subject, plainBody: 'Thanks.', verified: true };
  await call(mailbox, keys.acme.inboxes.helpdesk, 'POST', `/inboxes/${ids.acme.inboxes.helpdesk}/send`, mail);
  const message = failureOf(() => expect(mailbox).toHaveSentMail({ subject: 'Order 7' }));
  expect(message).toContain(']0;title');
  expect(stripVTControlCharacters(message).replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
});
