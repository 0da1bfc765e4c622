import { createMailbox, type MailboxState } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { OPERATION_IDS, OPERATIONS } from '../../src/contract/operations.ts';
import { anyCharacter, urlText } from '../support/any-character.ts';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';
import { expectNothingForeign, expectUntouchedNeighbours, idsOf } from '../support/model/neighbours.ts';

interceptRequests();

/** Headers cannot carry everything; what they can, a client may send. */
const headerText = fc
  .string({ unit: 'binary-ascii', maxLength: 40 })
  .map((text) => text.replace(/[^\x20-\x7e]/g, '').trim());

/** The punctuation that a segment of a URL may have (RFC 3986). */
const IN_SEGMENT = "-._~!$&'()*+,;=:@";

const urlSegment = urlText(IN_SEGMENT);

const junkPath = fc
  .array(
    fc.oneof(fc.constantFrom('v1', 'webhooks', 'inboxes', 'keys', '..', '.', '%', '%2F', '%00'), urlSegment, fc.uuid()),
    {
      maxLength: 5,
    },
  )
  // As a client would write it, without the dots.
  .map((segments) => new URL(`/v1/${segments.join('/')}`, 'https://mailbox.test').pathname)
  // Dots can lead out of /v1, where in process nothing is ours.
  .filter((path) => path.startsWith('/v1/'));

const fixtureIds = createMailbox().snapshot().tenants.flatMap(idsOf);

/** Ids of something mostly, so that what is behind a look-up gets its share of the junk. */
const pathStep = fc.oneof(
  { arbitrary: fc.constantFrom(...fixtureIds), weight: 4 },
  { arbitrary: fc.oneof(fc.uuid(), urlSegment, fc.constantFrom('%ZZ', '%E0', 'null', '-1')), weight: 1 },
);

/** The ids of an inbox and of what lies in it, as they stand in a path. */
const INBOXED = {
  id: IDS.acme.inboxes.helpdesk,
  messageId: IDS.acme.messages.cannotLogIn,
  attachmentId: IDS.acme.attachments.loginError,
  threadId: IDS.acme.threads.login,
  draftId: IDS.acme.drafts.helpdesk,
  listId: IDS.acme.lists.customers,
  entryId: IDS.acme.entries.dana,
  domain: 'acme.test',
  address: 'helpdesk@acme.test',
};

const pathValues = fc.oneof(
  fc.constant<Record<string, string>>(INBOXED),
  fc.record<Record<string, string>>({ id: pathStep, messageId: pathStep, draftId: pathStep, listId: pathStep }),
);

const operationPath = fc.tuple(fc.constantFrom(...OPERATION_IDS), pathValues, pathStep).map(([id, values, other]) => ({
  path: OPERATIONS[id].path.replace(/\{(\w+)\}/g, (_, name) => values[name] || other || 'x'),
  method: OPERATIONS[id].method as string,
}));

const target = fc.oneof(
  operationPath,
  fc.record({ path: junkPath, method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS') }),
);

const FIELDS = [
  ...['url', 'events', 'isActive', 'name', 'slug', 'description', 'username', 'displayName', 'domain', 'workspaceId'],
  ...['metadata', 'email', 'primary', 'to', 'cc', 'bcc', 'subject', 'plainBody', 'htmlBody', 'replyTo', 'verified'],
  ...['replyToMessageId', 'isRead', 'isStarred', 'isArchived', '__proto__', 'constructor'],
];

const PARAMETERS = [
  ...['limit', 'offset', 'direction', 'folder', 'group', 'inboxId', 'workspace', 'inbox', 'from', 'to', 'strict'],
  '__proto__',
];

const VALUES = [
  ...['0', '-1', '1e3', '100', '999999999', 'true', 'inbound', 'trash', 'thread', '2026-01-01', '0000-01-01'],
  ...['9999-12-31T23:59:59.999Z', '2026-02-30', ''],
];

const emailText = fc.oneof(
  fc.emailAddress(),
  fc.constantFrom(...['bounce', 'pause', 'resume', 'relay-error'].map((name) => `${name}@simulator.test`)),
  fc.constantFrom(
    'Ada <ada@x.test>',
    '"Ada, B" <ada@x.test>',
    '<>',
    'a@b',
    'a@b.test, c@d.test',
    'ü@ü.test',
    'a: b@c.d;',
  ),
  fc.constantFrom('helpdesk@acme.test', 'hello@globex.test', 'nobody@mailbox.test'),
);

const fieldValue = fc.oneof(
  fc.jsonValue(),
  emailText,
  fc.array(emailText, { maxLength: 4 }),
  fc.constantFrom(
    ...fixtureIds,
    true,
    false,
    null,
    'message.received',
    'https://agent.example/hook',
    '\r\nBcc: a@b.test',
  ),
  fc.string({ unit: anyCharacter, maxLength: 200 }),
);

const junkBody = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.string(),
  fc.uint8Array({ maxLength: 64 }),
  fc.dictionary(fc.constantFrom(...FIELDS), fieldValue).map((value) => JSON.stringify(value)),
);

const junkQuery = fc.oneof(
  fc.constant(''),
  fc
    .dictionary(fc.constantFrom(...PARAMETERS), fc.oneof(fc.string(), fc.constantFrom(...fixtureIds, ...VALUES)))
    .map((query) => `?${new URLSearchParams(query)}`),
  urlText(`${IN_SEGMENT}/?`).map((query) => `?${query}`),
);

/** Any characters, and at times half of one. */
const oddText = fc
  .array(
    fc.oneof({ arbitrary: fc.string({ unit: anyCharacter }), weight: 9 }, fc.constantFrom('\ud800', '\r\n.\r\n', '=')),
  )
  .map((parts) => parts.join(''));

/** A mail that may be sent: nothing refuses these texts. */
const oddMail = {
  to: fc.constantFrom(
    'Ada <ada@x.test>',
    '"Ada, B. \\" C" <ada@x.test>',
    'Ünal Ö <u@x.test>',
    'success@simulator.test',
  ),
  texts: fc.record({
    subject: oddText.map((text) => text.replace(/[\r\n\0]/g, '')),
    plainBody: oddText,
    htmlBody: fc.option(oddText),
  }),
};

const junkHeaders = fc.record(
  {
    'X-API-Key': headerText,
    Authorization: fc.oneof(
      headerText,
      headerText.map((text) => `Bearer ${text}`),
    ),
    'Content-Type': fc.constantFrom('application/json', 'text/plain', 'application/x-www-form-urlencoded'),
    Accept: headerText,
  },
  { requiredKeys: [] },
);

describe('properties', () => {
  everywhere(
    'any invalid request to any operation receives a reply of the contract, with no 5xx except for a failed relay',
    async ({ send, mailbox }) => {
      const { operator, acme } = mailbox.keys;
      const keys = [operator, acme.tenant, acme.tenant, acme.workspaces.support, acme.inboxes.helpdesk, undefined];
      await fc.assert(
        fc
          .asyncProperty(
            fc.record({ target, junkBody, junkQuery, junkHeaders, key: fc.constantFrom(...keys) }),
            async ({ target: { path, method }, junkBody: body, junkQuery, junkHeaders: headers, key }) => {
              const withBody = method === 'GET' ? {} : { body: body as BodyInit };
              // A key mostly, since hardly any junk is one.
              const { 'X-API-Key': _, Authorization: __, ...others } = headers;
              const sent = key === undefined ? { headers } : { headers: others, key };
              // `send` throws on a reply that breaks its schema, or an error that is not of the table.
              const { status, json } = await send(method, path + junkQuery, { ...withBody, ...sent });
              if (status >= 500) expect(json.code).toBe('RELAY_FAILED');
            },
          )
          .beforeEach(() => mailbox.reset()),
        { numRuns: 300 },
      );
    },
  );

  everywhere('mail with any text is sent, delivered and read again in every form', async ({ send, mailbox }) => {
    const { helpdesk, billing } = IDS.acme.inboxes;
    const key = mailbox.keys.acme.tenant;
    const read = async (path: string) => {
      const reply = await send('GET', path, { key });
      expect(reply.status).toBe(200);
      return reply.json;
    };
    await fc.assert(
      fc
        .asyncProperty(fc.record(oddMail), async (mail) => {
          const json = { to: ['billing@acme.test', mail.to], ...mail.texts, verified: true };
          const sent = await send('POST', `/v1/inboxes/${helpdesk}/send`, { key, json });
          expect(sent.status).toBe(200);
          expect(await read(`/v1/inboxes/${helpdesk}/messages/${sent.json.id}`)).toMatchObject(mail.texts);
          await read(`/v1/inboxes/${helpdesk}/messages/${sent.json.id}/raw`);
          const { messages } = await read(`/v1/inboxes/${billing}/messages?direction=inbound&limit=1`);
          const { id: _, ...received } = messages[0];
          expect(received).toMatchObject(mail.texts);
          const forward = { key, json: { to: mail.to } };
          const path = `/v1/inboxes/${billing}/forward/${messages[0].id}`;
          const forwarded = await send('POST', path, forward);
          expect(forwarded.status).toBe(200);
          await read(`/v1/inboxes/${billing}/messages/${forwarded.json.id}/raw`);
        })
        .beforeEach(() => mailbox.reset()),
      { numRuns: 60 },
    );
  });

  everywhere(
    'no sequence of calls shows a tenant the data of another, and reset restores the start',
    async (service) => {
      const start = service.mailbox.snapshot();
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 25 }), async (actions) => {
          service.mailbox.reset();
          for (const each of actions) await perform(service, each);
          service.mailbox.reset();
          expect(service.mailbox.snapshot()).toEqual(start);
        }),
        { numRuns: 30 },
      );
    },
  );
});

/** One call: any operation, by any key that is valid, about anything of any tenant. */
interface Action {
  readonly operation: (typeof OPERATION_IDS)[number];
  readonly keyAt: number;
  /** Of a thing in an inbox, whose inbox the path then names too, or not. */
  readonly isCoherent: boolean;
  readonly idsAt: readonly number[];
}

const action: fc.Arbitrary<Action> = fc.record({
  operation: fc.constantFrom(...OPERATION_IDS.filter((id) => id !== 'getHealth')),
  keyAt: fc.nat(),
  isCoherent: fc.boolean(),
  idsAt: fc.array(fc.nat(), { minLength: 3, maxLength: 3 }),
});

/** What every operation with a body takes: each of them reads its own. */
const BODY = {
  url: 'https://agent.example/hook',
  events: ['message.received'],
  name: 'Made by a test',
  domain: 'made.test',
  to: ['helpdesk@acme.test', 'info@globex.test'],
  subject: 'Made by a test',
  plainBody: 'Hi',
  verified: true,
};

async function perform({ mailbox, send }: Service, { operation, keyAt, isCoherent, idsAt }: Action): Promise<void> {
  const before = mailbox.snapshot();
  const holder = pick(holdersOf(before), keyAt);
  const { method, path } = OPERATIONS[operation];
  const params = isCoherent ? coherentParams(before, idsAt) : {};
  const ids = before.tenants.flatMap(idsOf);
  const chances = [...idsAt];
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? pick(ids, chances.shift() ?? 0));
  const withBody = method === 'POST' || method === 'PATCH' ? { json: BODY } : {};
  const reply = await send(method, filled, { key: holder.key, ...withBody });
  expect(reply.status).toBeLessThan(500);
  expectNothingForeign(reply, holder.tenantId, before);
  if (holder.tenantId !== undefined) expectUntouchedNeighbours(holder.tenantId, before, mailbox.snapshot());
}

/** The ids of an inbox of any tenant, and of things that may lie in it. */
function coherentParams({ tenants }: MailboxState, [first = 0, second = 0]: readonly number[]): Record<string, string> {
  const messages = tenants.flatMap((tenant) => tenant.messages);
  const message = pick(messages, first);
  if (message === undefined) return {};
  const tenant = tenants.find(({ inboxes }) => inboxes.some(({ id }) => id === message.inboxId));
  const oneOf = <Row extends { inboxId: string; id: string }>(rows: readonly Row[] = []) =>
    pick(
      rows.filter(({ inboxId }) => inboxId === message.inboxId),
      second,
    )?.id ?? message.id;
  return {
    id: message.inboxId,
    messageId: message.id,
    threadId: message.threadId,
    draftId: oneOf(tenant?.drafts),
    listId: oneOf(tenant?.lists),
    domain: pick(tenant?.domains ?? [], second)?.domain ?? 'made.test',
  };
}

interface Holder {
  readonly key: string;
  /** The tenant the key belongs to; `undefined` for the operator. */
  readonly tenantId: string | undefined;
}

function holdersOf({ operatorKeys, tenants }: MailboxState): Holder[] {
  return [
    ...operatorKeys.map((key) => ({ key, tenantId: undefined })),
    ...tenants.flatMap(({ apiKeys, id }) => apiKeys.map(({ key }) => ({ key, tenantId: id }))),
  ];
}

function pick<Item>(items: readonly Item[], at: number): Item {
  return items[at % items.length] as Item;
}
