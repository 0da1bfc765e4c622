import { createMailbox, FixtureError } from 'agent-mailbox-mock';
import { test } from 'vitest';
import { parseJsonc } from '../src/cli/jsonc.ts';

const text = (length: number) => 'x'.repeat(length);
const many =
  (item: unknown) =>
  (count: number): unknown[] =>
    Array.from({ length: count }, () => item);

const TENANT = '$.tenants.acme';
const INBOX = `${TENANT}.workspaces.main.inboxes.desk`;
const MESSAGE = `${INBOX}.messages[0]`;

/** What fields hold at most, as the API has it: how many, the value of so many, and what is said of one more. */
const LIMITS: [path: string, most: number, make: (count: number) => unknown, said?: string][] = [
  [`${TENANT}.name`, 200, text],
  [`${TENANT}.key.name`, 200, text],
  [`${TENANT}.workspaces.main.name`, 200, text],
  [`${TENANT}.workspaces.main.slug`, 63, text],
  [`${TENANT}.webhooks.audit.url`, 2048, (length) => 'http://127.0.0.1/'.padEnd(length, 'x')],
  [`${TENANT}.webhooks.audit.events`, 100, many('message.sent'), 'must list at most 100 event kinds'],
  [`${INBOX}.displayName`, 200, text],
  [`${INBOX}.imapPassword`, 1000, text],
  [`${MESSAGE}.to`, 50, many('ada@customer.test'), 'must list at most 50 addresses'],
  [`${MESSAGE}.subject`, 998, text],
  [`${MESSAGE}.plainBody`, 500_000, text],
  [`${MESSAGE}.htmlBody`, 500_000, text],
  [`${MESSAGE}.messageIdHeader`, 900, text],
  [`${MESSAGE}.inReplyTo`, 900, text],
  [`${MESSAGE}.references[0]`, 900, text],
  [`${MESSAGE}.references`, 100, many('<a@b.test>'), 'must be at most 100'],
  [`${MESSAGE}.attachments`, 100, many({ filename: 'a', text: 'a' }), 'must be at most 100'],
  [`${MESSAGE}.attachments[0].filename`, 255, text],
  [`${MESSAGE}.attachments[0].contentType`, 200, (length) => `text/${text(length - 5)}`],
  [`${MESSAGE}.attachments[0].content`, 10 * 1024 * 1024, (bytes) => btoa(text(bytes)), 'must hold at most 10 MiB'],
  [`${INBOX}.drafts[0].subject`, 998, text],
  [`${INBOX}.drafts[0].plainBody`, 500_000, text],
  [`${INBOX}.drafts[0].htmlBody`, 500_000, text],
  [`${INBOX}.lists.news.name`, 200, text],
  [`${INBOX}.lists.news.description`, 2000, text],
  [`${INBOX}.lists.news.entries[0].displayName`, 200, text],
];

type Parts = Record<string, unknown>;

/** A fixture that has each of the fields above, with one value at a JSON path changed. */
function fixtureWith(jsonPath: string, value: unknown) {
  const desk = {
    messages: [
      { from: 'ada@customer.test', references: ['<a@b.test>'], attachments: [{ filename: 'a', content: '' }] },
    ],
    drafts: [{}],
    lists: { news: { entries: [{ email: 'ada@customer.test' }] } },
  };
  const fixture = {
    tenants: {
      acme: {
        key: { name: 'first' },
        workspaces: { main: { inboxes: { desk } } },
        webhooks: { audit: { url: 'http://127.0.0.1:1' } },
      },
    },
  };
  const steps = jsonPath.match(/\w+/g) ?? [];
  const parent = steps.slice(0, -1).reduce<Parts>((part, step) => part[step] as Parts, fixture);
  parent[String(steps.at(-1))] = value;
  return fixture;
}

/** The lines of the error that a fixture is refused with. */
function problemsOf(fixtures: unknown): string[] {
  try {
    createMailbox({ fixtures: fixtures as never });
    return [];
  } catch (error) {
    if (!(error instanceof FixtureError)) throw error;
    return error.message.split('\n  ').slice(1);
  }
}

test.for(LIMITS)('%s holds at most %i', ([path, most, make, said], { expect }) => {
  expect(problemsOf(fixtureWith(path, make(most)))).toEqual([]);
  const refused = problemsOf(fixtureWith(path, make(most + 1)));
  expect(refused).toEqual([`${path} ${said ?? `must be at most ${most} characters long`}`]);
});

test.for([`${TENANT}.name`, `${INBOX}.displayName`, `${MESSAGE}.subject`])('%s is on one line', (path, { expect }) => {
  expect(problemsOf(fixtureWith(path, 'a\nb'))).toEqual([`${path} must be on one line`]);
});

test('a handle has a most length, and is cut short in the message that says so', ({ expect }) => {
  const said = 'as a handle must be at most 1000 characters long';
  expect(problemsOf({ tenants: { [`a${text(999)}`]: {} } })).toEqual([]);
  expect(problemsOf({ tenants: { [`a${text(1000)}`]: {} } })).toEqual([`$.tenants["a${text(199)}…"] ${said}`]);
});

const DEPTH = 100_000;

test.for([
  ['$.tenants.acme.name', 'must be a string'],
  [`${INBOX}.metadata`, 'must be nested at most 10 levels deep'],
])('%s nested far too deep says so, in code', ([path = '', said], { expect }) => {
  const deep = JSON.parse(`{"a":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`);
  expect(problemsOf(fixtureWith(path, deep))).toEqual([`${path} ${said}`]);
});

test.for<[title: string, json: string, said: string]>([
  [
    'arrays',
    `{ "tenants": { "acme": { "name": "x", "note": [1, ${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}] } } }`,
    '$.tenants.acme.note[1][0][0][0][0][0][0][0][0] is nested more than 64 levels deep, at line 1, column 111',
  ],
  [
    'objects without an end',
    `{\n"tenants": // deep\n${'{"a":'.repeat(DEPTH)}`,
    '$.tenants.a.a.a.a.a.a.a.a.a.a.a is nested more than 64 levels deep, at line 3, column 316',
  ],
])('JSON with %s nested far too deep is refused with the path', ([, json, said], { expect }) => {
  expect(() => parseJsonc(json)).toThrow(new SyntaxError(said));
});

test('JSON as deep as a fixture needs it is read', ({ expect }) => {
  const json = `${'[{"a":'.repeat(32)}null${'}]'.repeat(32)}`;
  expect(parseJsonc(json)).toEqual(JSON.parse(json));
});
