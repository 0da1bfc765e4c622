import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import type { WholeFixture } from '../../src/control/state/state-keeper.ts';
import { readLines, writeLines } from '../../src/server/state-lines.ts';

const EML = Buffer.from('From: a@b.test\r\nSubject: Bytes\r\n\r\nText\r\n');

async function createState() {
  const mailbox = createMailbox();
  await mailbox.receiveMessage({ to: 'info@globex.test', eml: String(EML) });
  return mailbox.export();
}

const checkpointOf = (name: string, fixture: WholeFixture) => ({
  name,
  at: '2026-03-01T09:00:00Z',
  fixture,
  owners: {},
});

test('each row has a line of its own, also those of checkpoints and sandboxes', async () => {
  const fixture = await createState();
  const sandbox = { name: null, domain: 'a.test', fixture, checkpoints: [checkpointOf('inner', fixture)] };
  const whole = {
    ...fixture,
    kept: { owners: {}, checkpoints: [checkpointOf('outer', fixture)], sandboxes: [sandbox] },
  } as unknown as WholeFixture;
  const lines = [...writeLines(whole)];
  const rows = Object.values(fixture.tenants).flatMap(({ rows }) =>
    Object.values<readonly object[]>({ ...rows } as never).flat(),
  );
  expect(lines).toHaveLength(1 + 4 * rows.length);
  expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
  expect(lines[0]).not.toContain('helpdesk@acme.test');

  const read = readLines(Buffer.from(lines.join('')));
  const asJson = (value: unknown) =>
    JSON.parse(
      JSON.stringify(value, (_, each) => (each instanceof Uint8Array ? Buffer.from(each).toString('base64') : each)),
    );
  expect(asJson(read)).toEqual(asJson(whole));
});

test('the bytes of mail are read as bytes, and texts that are not base64 stay as they are', () => {
  const messages = [
    { raw: EML.toString('base64') },
    { raw: null },
    { raw: 'é' },
    { raw: '=abc' },
    { raw: 'a=b=' },
    { raw: 'ab=c' },
    { raw: 'a===' },
    { raw: '====' },
    { raw: 'YWJjZA==YWJj' },
    { raw: 'YWJ' },
    { raw: 'YWJ\n' },
    null,
    7,
    { raw: [1] },
  ];
  const attachments = [{ content: 'YWJj', raw: 'YWJj' }];
  const inboxes = [{ raw: 'YWJj', metadata: { content: 'YWJj' } }];
  const whole = { tenants: { a: { rows: { messages, attachments, inboxes } } } } as unknown as WholeFixture;
  const read = readLines(Buffer.from([...writeLines(whole)].join('')));
  const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));
  expect(read).toEqual({
    kept: undefined,
    tenants: {
      a: {
        rows: {
          messages: [{ raw: new Uint8Array(EML) }, ...messages.slice(1)],
          attachments: [{ content: bytes('YWJj'), raw: 'YWJj' }],
          inboxes,
        },
      },
    },
  });
});

test.each(['rows', '__proto__', 'constructor', 'toString'])('a tenant may have the handle %s', (handle) => {
  const tenants = Object.fromEntries([[handle, { rows: { inboxes: [{ id: 'a' }] } }]]);
  const read = readLines(Buffer.from([...writeLines({ tenants } as unknown as WholeFixture)].join('')));
  expect(Object.entries(read.tenants)).toEqual(Object.entries(tenants));
});
