import { createMailbox, type Mail, type Mailbox, type ReplyFunction } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { arrived, reply, write } from '../../../support/correspondents.ts';
import { everywhere, interceptRequests } from '../../../support/everywhere.ts';
import { IDS } from '../../../support/ids.ts';

interceptRequests();

const DANA = 'dana@customer.test';

everywhere('a function gets the mail and writes the answer, at once or later', async (service) => {
  const { mailbox } = service;
  const seen: Mail[] = [];
  mailbox.addCorrespondent({
    address: DANA,
    async replies(mail) {
      seen.push(mail);
      await Promise.resolve();
      return seen.length === 1 ? { plainBody: `About ${mail.subject}: yes.` } : null;
    },
  });
  await write(service, DANA, 'Order 7', { cc: ['kim@visitor.test'] });
  await mailbox.settled();
  expect(seen).toMatchObject([
    { direction: 'outbound', to: [DANA], cc: ['kim@visitor.test'], plainBody: 'Which size?' },
  ]);
  expect(arrived(service)).toMatchObject([{ plainBody: 'About Order 7: yes.' }]);
  await reply(service, arrived(service)[0] ?? { id: '' });
  await mailbox.settled();
  expect([seen.length, arrived(service).length]).toEqual([2, 1]);
  expect(mailbox.correspondents()).toMatchObject([{ replies: null, received: 2 }]);
});

const WRONG: readonly [string, unknown, string][] = [
  ['throws', () => Promise.reject(new Error('no model')), 'its function failed with "no model".'],
  ['returns a number', () => 7, 'The reply is not valid: must be a text, or an object'],
  ['returns an unknown field', () => ({ txt: '' }), 'The reply is not valid: has unknown fields: "txt".'],
  [
    'returns a header with a line break',
    () => ({ headers: { 'X-A': 'a\r\nBcc: b' } }),
    'headers.X-A must be a single line',
  ],
];

test.each(WRONG)('a function that %s is reported, and the mailbox goes on', async (_, replies, problem) => {
  const reported: unknown[] = [];
  const mailbox = createMailbox({ environment: { report: (error) => reported.push(error) } });
  const service = { mailbox, url: mailbox.baseUrl, send: sendInto(mailbox) };
  mailbox.addCorrespondent({ address: DANA, replies: replies as ReplyFunction });
  mailbox.addCorrespondent({ address: 'kim@visitor.test', replies: ['Here.'] });
  await write(service, [DANA, 'kim@visitor.test']);
  const message = `The correspondent ${DANA} did not answer: `;
  await expect(mailbox.settled()).rejects.toThrow(message);
  expect(reported.map(String)).toEqual([expect.stringContaining(problem)]);
  await expect(mailbox.settled()).resolves.toBeDefined();
  expect(arrived(service)).toMatchObject([{ plainBody: 'Here.' }]);
});

test('settled names a correspondent that does not end its answer', async () => {
  const mailbox = createMailbox();
  let end = () => {};
  const ended = new Promise<null>((resolve) => {
    end = () => resolve(null);
  });
  mailbox.addCorrespondent({ address: DANA, replies: () => ended });
  await write({ mailbox, url: mailbox.baseUrl, send: sendInto(mailbox) }, DANA);
  const message = `still pending: the answer of the correspondent ${DANA}.`;
  await expect(mailbox.settled({ timeout: 10 })).rejects.toThrow(message);
  end();
  await expect(mailbox.settled()).resolves.toBeDefined();
});

test('the log and the feed say that a function failed', async () => {
  const lines: string[] = [];
  const environment = { report: () => {} };
  await using server = await startServer({ port: 0, log: (line) => lines.push(line), environment });
  const { mailbox, url } = server;
  const feed = mailbox.feed()[Symbol.asyncIterator]();
  mailbox.addCorrespondent({
    address: DANA,
    replies() {
      throw new Error('no model');
    },
  });
  await fetch(`${url}/v1/inboxes/${IDS.acme.inboxes.helpdesk}/send`, {
    method: 'POST',
    headers: { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' },
    body: JSON.stringify({ to: DANA, subject: 'Hi', plainBody: 'Hi', verified: true }),
  });
  await expect(mailbox.settled()).rejects.toThrow('did not answer');
  const text = `The correspondent ${DANA} did not answer: its function failed with "no model".`;
  expect(lines).toContainEqual(expect.stringContaining(`correspondent      !   ${text}`));
  for (;;) {
    const { value } = await feed.next();
    if (value?.kind !== 'failure') continue;
    expect(value.data).toEqual({ failed: 'correspondent', error: text.slice(0, -1) });
    break;
  }
});

test('an answer that is being written at a reset does not arrive', async () => {
  const mailbox = createMailbox();
  const service = { mailbox, url: mailbox.baseUrl, send: sendInto(mailbox) };
  let answer = (_: string) => {};
  const asked = new Promise<void>((resolve) => {
    mailbox.addCorrespondent({
      address: DANA,
      replies() {
        resolve();
        return new Promise((settle) => {
          answer = settle;
        });
      },
    });
  });
  await write(service, DANA);
  await asked;
  mailbox.reset();
  answer('Late.');
  await mailbox.settled();
  expect(arrived(service)).toEqual([]);
});

function sendInto(mailbox: Mailbox) {
  return async (method: string, path: string, { key = '', json }: { key?: string; json?: unknown } = {}) => {
    const response = await mailbox.fetch(
      new Request(mailbox.baseUrl + path, {
        method,
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify(json),
      }),
    );
    return { status: response.status, json: await response.json(), headers: response.headers } as never;
  };
}
