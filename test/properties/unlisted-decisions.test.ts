import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import {
  type AssumptionDefinition,
  type AssumptionId,
  assumptionsAbout,
  BEHAVIOURS,
  type BehaviourDefinition,
  type BehaviourId,
  parseBehaviours,
} from '../../src/contract/behaviours.ts';
import { HOSTILE_FILE_HEADERS } from '../../src/contract/header-fields.ts';
import { createOpenApi } from '../../src/contract/openapi/create-openapi.ts';
import { formsOf, type Json, type OpenApiOperation, operationsIn } from '../../src/contract/openapi/document.ts';
import { OPERATION_IDS, OPERATIONS, type OperationId } from '../../src/contract/operations.ts';
import { CALLS } from '../support/openapi-examples.ts';

/*
 * Looks for decisions that no entry of the ledger states. Each field of each operation is sent in every odd form: absent,
 * null, empty, of white space, padded, in capital letters, with a line break, as long as allowed and one longer, twice,
 * of a wrong type. The OpenAPI document says whether a form is valid. An entry must explain what it does not say: that a
 * valid form is refused, that an invalid one is accepted, that the stored value is not the one that was sent, and what
 * the forms in `NEVER_STATED` mean. If the entry is a choice, the reply must name it, and must not name it for a usual
 * value of the field. If it is an assumption, it must say that it is about the operation and the field, or the table
 * `EXPLAINED` must say which outcomes it explains.
 *
 * A failure names the operation, the field and the form. Then add an entry (src/contract/behaviours/README.md), or let
 * the schema state the outcome.
 */

/** The forms of which a schema can say that they are accepted, but not what they mean. */
const NEVER_STATED: ReadonlySet<string> = new Set(['null', 'twice in the array', 'repeated in the query']);

/** The entry that a reply names because it is an error, whatever the error is about. */
const OF_EVERY_ERROR: BehaviourId = 'errors.shape';

/**
 * Outcomes that are explained in another way: by a choice that the reply also names for a usual value, or that the reply
 * to reading the resource names; by an assumption about every request, or about more than a field; or by the reason why
 * there is no decision.
 */
const EXPLAINED: readonly (readonly [
  outcome: RegExp,
  by: { readonly entry: BehaviourId } | { readonly noDecision: string },
])[] = [
  [/^createInbox domain absent$/, { entry: 'inboxes.default-domain' }],
  [/^forwardMessage (?:plainBody|htmlBody) /, { entry: 'sending.forward.body' }],
  [/ (?:to|cc|bcc) in capital letters$/, { entry: 'messages.addresses' }],
  [/ (?:limit|offset) 01$/, { entry: 'messages.list.pagination' }],
  [/^(?:create|update)Draft (?:to|cc|bcc) twice in the array$/, { noDecision: 'the list is kept as it was sent' }],
  [/^createDraft again$/, { noDecision: 'a draft has nothing that could be the same' }],
  [/^(?:createTenant|createWorkspaceKey|createList) again$/, { entry: 'requests.equal-names' }],
  [/^addInboxAddress again$/, { entry: 'inboxes.addresses.create.reply' }],
  [/^createWebhook again$/, { entry: 'webhooks.create.same-url' }],
  [/^createDomain again$/, { entry: 'domains.create.taken' }],
  [/^createListEntry again$/, { entry: 'lists.entries.taken' }],
  [/ null$/, { entry: 'requests.null-fields' }],
  [/ (?:longer|more items) than allowed$/, { entry: 'requests.limits' }],
  [/ (?:repeated in the query|unknown parameter)$/, { entry: 'requests.query' }],
  [/ (?:(?:workspace|inbox|workspaceId|replyToMessageId)|id) in capital letters$/, { entry: 'requests.letter-case' }],
];

const id = (kind: string, number = 1) => `ac3e0000-000${kind}-4000-8000-00000000000${number}`;

/** A usual value of each field for which neither the schema nor the example of the operation gives one. */
const USUAL: Readonly<Record<string, unknown>> = {
  url: 'https://agent.acme.test/mail',
  workspaceId: id('2'),
  workspace: id('2'),
  inboxId: id('3'),
  inbox: id('3'),
  replyToMessageId: id('6'),
  email: 'kim@visitor.test',
  replyTo: 'kim@visitor.test',
  to: 'dana@customer.test',
  cc: 'billing@acme.test',
  bcc: 'outreach@acme.test',
  domain: 'acme.example',
  'forwardMessage cc': 'kim@visitor.test',
  'getMetrics from': '2026-01-01T00:00:00.000Z',
  'getMetrics to': '2027-01-01T00:00:00.000Z',
};

/** Requests in which an odd value of one field has no other consequence than its own. */
const BASES: { readonly [Id in OperationId]?: { readonly params?: Readonly<Record<string, string>>; body?: object } } =
  {
    sendMessage: { body: { to: 'dana@customer.test', subject: 'Your login', verified: true } },
    deleteDraft: { params: { id: id('3'), draftId: id('9') } },
  };

const DOCUMENT = createOpenApi(parseBehaviours());
const OPERATIONS_BY_ID = new Map(
  operationsIn(DOCUMENT).map(({ operation }) => [operation.operationId as OperationId, operation]),
);
const ajv = addFormats.default(new Ajv({ strict: false }));

type Fields = Readonly<Record<string, unknown>>;

interface Row {
  readonly method: string;
  readonly path: string;
}

const rowOf = (operationId: OperationId): Row => OPERATIONS[operationId];

/** A request: the values of the path, the query as a text, and the body. */
interface Sent {
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  readonly body: Fields | undefined;
}

interface Outcome {
  readonly status: number;
  readonly json: Fields;
  readonly headers: Headers;
  readonly named: readonly string[];
}

interface Field {
  readonly place: 'body' | 'query';
  readonly name: string;
  readonly schema: Json;
}

/** A form of a field: its name, and what is sent; `undefined` means that the field is absent. */
type Form = readonly [name: string, value: unknown];

function bodySchemaOf(operation: OpenApiOperation): Json | undefined {
  return operation.requestBody?.content['application/json']?.schema;
}

function fieldsOf(operation: OpenApiOperation): Field[] {
  const properties = (bodySchemaOf(operation)?.properties ?? {}) as Readonly<Record<string, Json>>;
  const inBody = Object.entries(properties).map(([name, schema]): Field => ({ place: 'body', name, schema }));
  const parameters = operation.parameters?.filter((parameter) => parameter.in === 'query') ?? [];
  return [...inBody, ...parameters.map(({ name, schema }): Field => ({ place: 'query', name, schema }))];
}

/** Returns the forms that a schema allows, also those within its forms. */
function allFormsOf(schema: Json): readonly Json[] {
  const forms = formsOf(schema);
  return forms.length === 1 && forms[0] === schema ? forms : forms.flatMap(allFormsOf);
}

function usualValueOf(operationId: OperationId, { name, schema }: Pick<Field, 'name' | 'schema'>): unknown {
  const given = (CALLS[operationId]?.body as Fields | undefined)?.[name];
  const known = USUAL[`${operationId} ${name}`] ?? given ?? USUAL[name];
  if (known !== undefined) return known;
  const [{ type, enum: values, items }] = allFormsOf(schema) as readonly [Json];
  if (Array.isArray(values)) return values[0];
  if (type === 'boolean') return true;
  if (type === 'integer') return 1;
  if (type === 'object') return { order: 7 };
  if (type === 'array') return [usualValueOf(operationId, { name, schema: items as Json })];
  return name.toLowerCase();
}

/** Makes a text of this length that is of the same kind as a usual one: a URL, an address, a host name or a word. */
function stretch(usual: string, length: number): string {
  const missing = length - usual.length;
  if (usual.includes('://') || !/^\S+\.\w+$/.test(usual)) return usual + 'a'.repeat(missing);
  if (usual.includes('@')) {
    const [local = '', domain = ''] = usual.split('@');
    const longLocal = local + 'a'.repeat(Math.min(64 - local.length, missing));
    return `${longLocal}@${stretch(domain, length - longLocal.length - 1)}`;
  }
  const labels = `${'a'.repeat(59)}.`.repeat(Math.ceil(missing / 60));
  return `${labels.slice(labels.length - missing).replace(/^\./, 'a')}${usual}`;
}

const KINDS: readonly (readonly [type: string, name: string, value: unknown])[] = [
  ['number', 'a number', 7],
  ['string', 'a text', 'maybe'],
  ['boolean', 'a boolean', true],
  ['array', 'an array', ['a']],
  ['object', 'an object', { a: 1 }],
];

function formsOfBodyField({ schema }: Field, usual: unknown): Form[] {
  const allowed = allFormsOf(schema);
  const types = allowed.map(({ type }) => type);
  const forms: Form[] = [
    ['absent', undefined],
    ['null', null],
    ...KINDS.filter(([type]) => !types.includes(type)).map(([, name, value]): Form => [name, value]),
  ];
  if (typeof usual === 'string') {
    forms.push(
      ['empty', ''],
      ['white space', ' \t '],
      ['padded', ` ${usual} `],
      ['in capital letters', usual.toUpperCase()],
      ['with a line break', `${usual}\r\n${usual}`],
      ['with a zero byte', `${usual}\0`],
      ['with a tab', `a\t${usual}`],
      ['not in ASCII', usual.replace(/[a-z](?=[^a-z]*$)/i, 'ü')],
      ['not composed', usual.replace(/[a-z](?=[^a-z]*$)/i, 'u\u0308')],
    );
    const { maxLength } = allowed.find(({ type }) => type === 'string') ?? {};
    if (typeof maxLength === 'number') {
      forms.push(['longest', stretch(usual, maxLength)], ['longer than allowed', stretch(usual, maxLength + 1)]);
    }
  }
  const array = allowed.find(({ type }) => type === 'array');
  if (array) {
    const [item] = [usual].flat();
    forms.push(
      ['an empty array', []],
      ['twice in the array', [item, item]],
      ['an array with null', [item, null]],
      ['an array with a number', [7]],
      ['an array with an empty text', ['']],
      ['more items than allowed', Array.from({ length: Number(array.maxItems ?? 100) + 1 }, () => item)],
    );
  }
  if (types.includes('object')) forms.push(['an empty object', {}], ['an object with null', { a: null }]);
  return forms;
}

/** Lists the forms of a parameter of a query. Each value is a part of the query. */
function formsOfParameter({ name, schema }: Field, usual: unknown): Form[] {
  const pair = (value: unknown) => `${name}=${encodeURIComponent(String(value))}`;
  const numbers = ['0', '-1', '1.5', '1e1', '01', '+1', '0x1', '201', '99999999999999999999'];
  return [
    ['absent', undefined],
    ['empty', pair('')],
    ['white space', pair(' ')],
    ['padded', pair(` ${usual} `)],
    ['in capital letters', pair(String(usual).toUpperCase())],
    ['of another kind', pair('maybe')],
    ['null', pair('null')],
    ['repeated in the query', `${pair(usual)}&${pair(usual)}`],
    ...(schema.type === 'integer' ? numbers.map((number): Form => [number, pair(number)]) : []),
  ];
}

/** Returns whether the OpenAPI document says that a request is valid. */
function isValid(operation: OpenApiOperation, { place, name, schema }: Field, { query, body }: Sent): boolean {
  if (place === 'body') return ajv.validate(bodySchemaOf(operation) ?? {}, body);
  const text = new URLSearchParams(query).get(name);
  if (text === null) return true;
  const values: readonly unknown[] = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?)$/.test(text)
    ? [text, JSON.parse(text)]
    : [text];
  return values.some((value) => ajv.validate(schema, value));
}

async function callOperation(mailbox: Mailbox, operationId: OperationId, sent: Sent, key?: string): Promise<Outcome> {
  const { method, path } = rowOf(operationId);
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(sent.params[name] ?? ''));
  const response = await mailbox.fetch(`${mailbox.baseUrl}${target}${sent.query === '' ? '' : `?${sent.query}`}`, {
    method,
    headers: { 'X-API-Key': key ?? CALLS[operationId]?.key ?? mailbox.keys.acme.tenant },
    ...(sent.body !== undefined && { body: JSON.stringify(sent.body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const named = response.headers.get('x-mock-assumed')?.split(', ') ?? [];
  return { status: response.status, json: isJson ? JSON.parse(text) : {}, headers: response.headers, named };
}

/** Finds the operation that reads the resource that another operation creates, changes or sends. */
function findReader(operationId: OperationId): OperationId | undefined {
  const { method, path } = rowOf(operationId);
  if (/\/(?:send|reply|reply-all|forward)(?:\/|$)/.test(path)) return 'getMessage';
  return OPERATION_IDS.find((each) => {
    const reader = rowOf(each);
    if (reader.method !== 'GET') return false;
    return method === 'PATCH' ? reader.path === path : /^\/\{\w+\}$/.test(reader.path.replace(path, ''));
  });
}

/** Reads the resource after a request. If no operation reads it, the reply to the request shows it. */
async function readResource(mailbox: Mailbox, operationId: OperationId, sent: Sent, outcome: Outcome) {
  const reader = findReader(operationId);
  if (!reader) return outcome;
  const params = { ...sent.params };
  const [, last = ''] = /\{(\w+)\}$/.exec(rowOf(reader).path) ?? [];
  if (rowOf(operationId).method === 'POST')
    params[last] = String(last === 'domain' ? outcome.json.domain : outcome.json.id);
  return callOperation(mailbox, reader, { params, query: '', body: undefined });
}

/** The names of fields that have another name in a reply. */
const SHOWN_AS: Readonly<Record<string, string>> = {
  'addInboxAddress email': 'address',
  'addInboxAddress primary': 'isPrimary',
};

/** Returns whether a value that a reply shows is the one that was sent. One value, and a list of it, are the same. */
function isSame(sent: unknown, shown: unknown): boolean {
  const forms = [sent, [sent], Array.isArray(sent) ? sent.join(', ') : sent];
  return forms.some((form) => JSON.stringify(form) === JSON.stringify(shown));
}

/** Returns whether a field that was not sent has no value, or the default of its schema. */
function isUnset(shown: unknown, { schema }: Field): boolean {
  return shown === schema.default || [undefined, null, '', false].includes(shown as never) || isSame([], shown);
}

/** Returns what an outcome decides that the schema does not state; `undefined` if it decides nothing. */
function decisionOf(
  operation: OpenApiOperation,
  field: Field,
  [form, value]: Form,
  sent: Sent,
  { status, json }: Outcome,
  shown: Fields,
): string | undefined {
  const isAccepted = status < 300;
  if (isAccepted !== isValid(operation, field, sent)) return `${status} ${String(json.error ?? '')}`.trim();
  if (!isAccepted) return undefined;
  if (NEVER_STATED.has(form)) return String(status);
  if (field.place === 'query') return undefined;
  const name = SHOWN_AS[`${operation.operationId} ${field.name}`] ?? field.name;
  const isUpdate = rowOf(operation.operationId as OperationId).method === 'PATCH';
  if (!(name in shown) || (value === undefined && isUpdate)) return undefined;
  const isKept = value === undefined ? isUnset(shown[name], field) : isSame(value, shown[name]);
  return isKept ? undefined : `shown as ${JSON.stringify(shown[name])?.slice(0, 100)}`;
}

/**
 * Returns whether an entry explains an outcome: a choice that the reply names and does not name for a usual value, an
 * assumption about the field, or what the table says. `outcome` is an operation, a field and a form.
 */
function isExplained(outcome: string, named: readonly string[], usual: readonly string[]): boolean {
  if (named.some((each) => !usual.includes(each) && each !== OF_EVERY_ERROR)) return true;
  const [operation = '', field = ''] = outcome.split(' ');
  if (assumptionsAbout(operation).some((each) => definitionOf(each).fields?.includes(field))) return true;
  return EXPLAINED.some(
    ([pattern, by]) => pattern.test(outcome) && (!('entry' in by) || isSaid(by.entry, operation, named)),
  );
}

/** Returns whether a reply names a choice, or whether an assumption is about the operation or about every request. */
function isSaid(entry: BehaviourId, operation: string, named: readonly string[]): boolean {
  const definition: BehaviourDefinition = BEHAVIOURS[entry];
  if (!('assumption' in definition)) return named.includes(entry);
  return definition.operations === undefined || definition.operations.includes(operation);
}

function definitionOf(entry: AssumptionId): AssumptionDefinition {
  return BEHAVIOURS[entry];
}

const baseOf = (operationId: OperationId): Sent => {
  const { params = {}, body } = { ...CALLS[operationId], ...BASES[operationId] };
  return { params, query: '', body: body as Fields | undefined };
};

/** The words with which an entry of the ledger says in which order a list is, or whether it has pages. */
const ABOUT_LISTS = {
  order: /oldest first|newest first|newest-first|ordered by|oldest-first|in the order of/,
  pages: /\bpage/,
};

function textOf(entry: string): string {
  return JSON.stringify(BEHAVIOURS[entry as BehaviourId] satisfies BehaviourDefinition);
}

describe('no outcome is a decision without an entry in the ledger', () => {
  for (const [operationId, operation] of OPERATIONS_BY_ID) {
    const fields = fieldsOf(operation);
    if (fields.length === 0) continue;
    test(`of any form of a field of ${operationId}`, async () => {
      const mailbox = createMailbox({ seed: 7 });
      const base = baseOf(operationId);
      const missing: string[] = [];
      for (const field of fields) {
        const usual = usualValueOf(operationId, field);
        const send = async (value: unknown) => {
          mailbox.reset();
          const { [field.name]: _, ...others } = base.body ?? {};
          const sent: Sent =
            field.place === 'query'
              ? { ...base, query: String(value ?? '') }
              : { ...base, body: value === undefined ? others : { ...others, [field.name]: value } };
          const outcome = await callOperation(mailbox, operationId, sent);
          const shown = outcome.status < 300 ? await readResource(mailbox, operationId, sent, outcome) : outcome;
          return { sent, outcome, shown };
        };
        const usualForm = field.place === 'query' ? `${field.name}=${encodeURIComponent(String(usual))}` : usual;
        const { outcome: expected } = await send(usualForm);
        expect([field.name, usualForm, expected.status < 300, expected.json.error]).toEqual([
          field.name,
          usualForm,
          true,
          undefined,
        ]);
        const forms = field.place === 'query' ? formsOfParameter(field, usual) : formsOfBodyField(field, usual);
        for (const form of forms) {
          const { sent, outcome, shown } = await send(form[1]);
          const decision = decisionOf(operation, field, form, sent, outcome, shown.json);
          if (decision === undefined) continue;
          const name = `${operationId} ${field.name} ${form[0]}`;
          // The reply to reading the resource counts only for the entries of the table, because it names many others.
          const isStated =
            isExplained(name, outcome.named, expected.named) ||
            isExplained(name, [...outcome.named, ...shown.named], [...expected.named, ...shown.named]);
          if (!isStated) missing.push(`${name}: ${decision}`);
        }
      }
      expect(missing).toEqual([]);
    });
  }

  test('of an unknown field, an unknown parameter, an update of nothing, or an id in another form', async () => {
    const mailbox = createMailbox({ seed: 7 });
    const missing: string[] = [];
    for (const operationId of OPERATION_IDS) {
      const { method } = rowOf(operationId);
      const base = baseOf(operationId);
      const send = async (sent: Sent) => {
        mailbox.reset();
        return callOperation(mailbox, operationId, sent);
      };
      const changeParams = (change: (value: string) => string) =>
        Object.fromEntries(Object.entries(base.params).map(([name, value]) => [name, change(value)]));
      const odd: [form: string, sent: Sent][] = [['unknown parameter', { ...base, query: 'odd=1' }]];
      if (method !== 'GET') odd.push(['unknown field', { ...base, body: { ...base.body, odd: 1 } }]);
      if (method === 'PATCH') odd.push(['update of nothing', { ...base, body: {} }]);
      if (Object.keys(base.params).length > 0) {
        odd.push(['id in capital letters', { ...base, params: changeParams((value) => value.toUpperCase()) }]);
        if (!/domain|address/.test(Object.keys(base.params).join())) {
          odd.push(['malformed id', { ...base, params: changeParams(() => 'odd') }]);
        }
      }
      const usual = await send(base);
      for (const [form, sent] of odd) {
        const { status, named } = await send(sent);
        if (!isExplained(`${operationId} ${form}`, named, usual.named))
          missing.push(`${operationId} ${form}: ${status}`);
      }
    }
    expect(missing).toEqual([]);
  });

  test('of a request that creates the same again', async () => {
    const mailbox = createMailbox({ seed: 7 });
    const missing: string[] = [];
    for (const operationId of OPERATION_IDS) {
      const { method, status }: Row & { readonly status: number } = OPERATIONS[operationId];
      if (method !== 'POST' || status !== 201 || !OPERATIONS_BY_ID.get(operationId)?.requestBody) continue;
      mailbox.reset();
      const first = await callOperation(mailbox, operationId, baseOf(operationId));
      expect(first.status).toBe(201);
      const again = await callOperation(mailbox, operationId, baseOf(operationId));
      if (!isExplained(`${operationId} again`, again.named, first.named))
        missing.push(`${operationId}: ${again.status}`);
    }
    expect(missing).toEqual([]);
  });

  test('about the order and the pages of a list', async () => {
    const mailbox = createMailbox({ seed: 7 });
    const { params = {} } = CALLS.createListEntry ?? {};
    // The default fixture has only one of some things.
    const extra: [OperationId, Sent][] = [
      ['createList', baseOf('createList')],
      ['createWebhook', baseOf('createWebhook')],
      ['createWorkspaceKey', baseOf('createWorkspaceKey')],
      ['createDraft', baseOf('createDraft')],
      ['createListEntry', { params, query: '', body: { email: 'lee@visitor.test' } }],
    ];
    for (const [operationId, sent] of extra) {
      expect((await callOperation(mailbox, operationId, sent)).status).toBe(201);
    }
    const raw = ['From: dana@customer.test', 'To: helpdesk@acme.test', 'Content-Type: multipart/mixed; boundary=b', ''];
    const file = [
      '--b',
      'Content-Type: application/octet-stream',
      'Content-Disposition: attachment; filename=a',
      '',
      'a',
    ];
    const [received] = await mailbox.receiveMessage({ eml: [...raw, '', ...file, ...file, '--b--'].join('\r\n') });
    const [missing, seen]: [string[], string[]] = [[], []];
    for (const operationId of OPERATION_IDS) {
      if (rowOf(operationId).method !== 'GET') continue;
      const base = baseOf(operationId);
      const isOfFiles = operationId === 'listAttachments';
      const sent = isOfFiles ? { ...base, params: { ...base.params, messageId: received?.id ?? '' } } : base;
      const { json, named } = await callOperation(mailbox, operationId, sent);
      const list = Object.values(json).find((value) => Array.isArray(value));
      if (list === undefined || !operationId.startsWith('list')) continue;
      seen.push(`${operationId} ${list.length > 1}`);
      for (const [what, pattern] of Object.entries(ABOUT_LISTS)) {
        const about = [...named, ...assumptionsAbout(operationId)];
        if (!about.some((each) => pattern.test(textOf(each)))) missing.push(`${operationId} does not name its ${what}`);
      }
    }
    expect(seen.filter((each) => each.endsWith('false'))).toEqual([]);
    expect(missing).toEqual([]);
  });

  test('about a header of a reply', async () => {
    const mailbox = createMailbox({ seed: 7 });
    /** The entry that states a header, or why there is no decision. */
    const stated: Readonly<Record<string, BehaviourId | { readonly noDecision: string }>> = {
      'content-type': { noDecision: 'section 4 says that bodies are JSON' },
      'content-length': { noDecision: 'HTTP states it' },
      'x-mock-assumed': { noDecision: 'it is a header of the emulator' },
      'www-authenticate': 'auth.challenge',
      allow: 'requests.wrong-method',
      'content-disposition': 'messages.attachments.disposition',
    };
    const protectsBrowsers = new Set(Object.keys(HOSTILE_FILE_HEADERS));
    const unstated = new Set<string>();
    for (const operationId of OPERATION_IDS) {
      for (const key of [undefined, 'tk_wrong_key']) {
        mailbox.reset();
        const { headers, named } = await callOperation(mailbox, operationId, baseOf(operationId), key);
        for (const name of headers.keys()) {
          if (protectsBrowsers.has(name)) continue;
          const by = stated[name];
          if (by === undefined || (typeof by === 'string' && !isSaid(by, operationId, named)))
            unstated.add(`${operationId} ${name}`);
        }
      }
    }
    expect([...unstated]).toEqual([]);
  });

  test('about a header or a field of a delivery', async () => {
    const calls: { readonly headers: Headers; readonly body: string }[] = [];
    const receive: typeof fetch = async (_, init) => {
      calls.push({ headers: new Headers(init?.headers), body: String(init?.body) });
      return new Response();
    };
    const mailbox = createMailbox({ seed: 7, environment: { fetch: receive } });
    await mailbox.addWebhook({ url: 'http://127.0.0.1:9/hook', workspaceOf: 'helpdesk@acme.test' });
    await mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      from: 'Dana <dana@customer.test>',
      subject: 'Hi',
      plainBody: 'Hi',
    });
    await mailbox.settled();
    const ledger = Object.entries(BEHAVIOURS).filter(([entry]) => entry.startsWith('deliveries.'));
    const isStated = (word: string) =>
      ledger.some(([, entry]) => JSON.stringify(entry).toLowerCase().includes(word.toLowerCase()));
    const [call] = calls;
    const words = [...(call?.headers.keys() ?? []), ...Object.keys(JSON.parse(call?.body ?? '{}'))];
    expect(words).toContain('webhook-signature');
    expect(words.filter((word) => word !== 'content-type' && !isStated(word))).toEqual([]);
    expect(isStated('dana reyes <dana@customer.test>')).toBe(JSON.parse(call?.body ?? '{}').from.includes('<'));
  });
});
