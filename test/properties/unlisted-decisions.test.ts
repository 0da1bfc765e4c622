import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { BEHAVIOUR_IDS, type BehaviourDefinition, BEHAVIOURS, parseBehaviours } from '../../src/contract/behaviours.ts';
import { createOpenApi } from '../../src/contract/openapi/create-openapi.ts';
import { formsOf, type Json, type OpenApiOperation, operationsIn } from '../../src/contract/openapi/document.ts';
import { OPERATION_IDS, OPERATIONS, type OperationId } from '../../src/contract/operations.ts';
import { CALLS } from '../support/openapi-examples.ts';

/*
 * Looks for decisions that no entry of the ledger states. Each field of each operation is sent in every odd form: absent,
 * null, empty, of white space, padded, in capital letters, with a line break, as long as allowed and one longer, twice,
 * of a wrong type. The OpenAPI document says whether a form is valid. An entry must explain everything that it does not
 * say: that a valid form is refused, that an invalid one is accepted, that the stored value is not the one that was
 * sent, and each outcome of the forms in `ALWAYS_A_DECISION`. The reply must name the entry, and not already name it for
 * a usual value of the field.
 *
 * A failure names the operation, the field and the form. Then add an entry (src/contract/behaviours/README.md) and let
 * the code read it, or give the outcome to the schema.
 */

/** What the service document itself says of a form: `operation field form`, and the section. */
const STATED: Readonly<Record<string, string>> = {
};

/** The forms of which a schema can say that they are accepted, but not what they mean. */
const ALWAYS_A_DECISION: ReadonlySet<string> = new Set(['null', 'twice in the array', 'repeated in the query', 'unknown']);

/** Names of entries that a reply names because it is an error, whatever the error is about. */
const OF_EVERY_ERROR: readonly string[] = ['errors.shape', 'errors.statuses', 'errors.codes'];

/** Fields that may have the same value in any number of resources, because they name nothing. */
const CONTENT = ['subject', 'plainBody', 'htmlBody', 'to', 'cc', 'bcc', 'description', 'displayName', 'domain', 'replyTo'];

const id = (kind: string, number = 1) => `ac3e0000-000${kind}-4000-8000-00000000000${number}`;

/** A usual value of each field for which the schema does not give one. */
const USUAL: Readonly<Record<string, unknown>> = {
  url: 'https://agent.acme.test/mail',
  workspaceId: id('2'),
  workspace: id('2'),
  inboxId: id('3'),
  inbox: id('3'),
  replyToMessageId: id('6'),
  email: 'kim@visitor.test',
  'verifyEmail email': 'helpdesk@acme.test',
  'addInboxAddress email': 'help@acme.test',
  replyTo: 'kim@visitor.test',
  to: 'dana@customer.test',
  cc: 'dana@customer.test',
  bcc: 'dana@customer.test',
  domain: 'acme.example',
  'createInbox domain': 'acme.test',
  'getMetrics from': '2026-01-01T00:00:00.000Z',
  'getMetrics to': '2027-01-01T00:00:00.000Z',
};

const DOCUMENT = createOpenApi(parseBehaviours());
const OPERATIONS_BY_ID = new Map(
  operationsIn(DOCUMENT).map(({ operation }) => [operation.operationId as OperationId, operation]),
);

const ajv = addFormats.default(new Ajv({ strict: false, coerceTypes: false }));
const ajvOfQueries = addFormats.default(new Ajv({ strict: false, coerceTypes: true }));

type Fields = Readonly<Record<string, unknown>>;

/** A request: the values of the path, the query as a text, and the body. */
interface Sent {
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  readonly body: Fields | undefined;
}

interface Outcome {
  readonly status: number;
  readonly json: Fields;
  readonly named: readonly string[];
}

/** A field of an operation. */
interface Field {
  readonly place: 'body' | 'query';
  readonly name: string;
  readonly schema: Json;
}

/** A form of a field: what is sent instead of a usual value. `undefined` means that the field is absent. */
type Form = readonly [name: string, value: unknown];

const bodySchemaOf = (operation: OpenApiOperation): Json | undefined =>
  operation.requestBody?.content['application/json']?.schema;

function fieldsOf(operation: OpenApiOperation): Field[] {
  const properties = (bodySchemaOf(operation)?.properties ?? {}) as Readonly<Record<string, Json>>;
  const inBody = Object.entries(properties).map(([name, schema]): Field => ({ place: 'body', name, schema }));
  const parameters = operation.parameters?.filter((parameter) => parameter.in === 'query') ?? [];
  return [...inBody, ...parameters.map(({ name, schema }): Field => ({ place: 'query', name, schema }))];
}

/** Returns every form of a value, those within `anyOf` included. */
function allForms(schema: Json): readonly Json[] {
  const forms = formsOf(schema);
  return forms.length === 1 && forms[0] === schema ? forms : forms.flatMap(allForms);
}

function usualValue(operationId: OperationId, { name, schema }: Pick<Field, 'name' | 'schema'>): unknown {
  const known = CALLS[operationId]?.body as Fields | undefined;
  const given = USUAL[`${operationId} ${name}`] ?? known?.[name] ?? USUAL[name];
  if (given !== undefined) return given;
  const [{ type, enum: values, items }] = allForms(schema) as readonly [Json];
  if (Array.isArray(values)) return values[0];
  if (type === 'boolean') return true;
  if (type === 'integer') return 1;
  if (type === 'object') return { order: 7 };
  if (type === 'array') return [usualValue(operationId, { name, schema: items as Json })];
  return name.toLowerCase();
}

/** Makes a text of this length that is like a usual value: an address, a URL, a host name or a word. */
function stretch(usual: string, length: number): string {
  if (usual.includes('://')) return usual + 'a'.repeat(length - usual.length);
  const missing = length - usual.length;
  if (usual.includes('@')) {
    const [local = '', domain = ''] = usual.split('@');
    const longLocal = local + 'a'.repeat(Math.min(64 - local.length, Math.max(0, missing)));
    return `${longLocal}@${stretch(domain, length - longLocal.length - 1)}`;
  }
  if (!usual.includes('.')) return usual + 'a'.repeat(missing);
  const labels = Array.from({ length: Math.ceil(missing / 60) }, () => `${'a'.repeat(59)}.`).join('');
  const rest = missing - labels.length;
  return rest < 0 ? labels.slice(-missing) + usual : 'a'.repeat(rest) + labels + usual;
}

/** Lists the forms of a field in a body. */
function formsOfBody({ schema }: Field, usual: unknown): Form[] {
  const forms: Form[] = [['absent', undefined], ['null', null]];
  const types = allForms(schema).map(({ type }) => type);
  const others: [string, unknown][] = [['a number', 7], ['a text', 'maybe'], ['a boolean', true], ['an array', ['a']], ['an object', { a: 1 }]];
  const names: Readonly<Record<string, string>> = { string: 'a text', boolean: 'a boolean', array: 'an array', object: 'an object' };
  forms.push(...others.filter(([name]) => !types.some((type) => names[String(type)] === name)));
  if (typeof usual === 'string') {
    const { maxLength } = allForms(schema).find(({ type }) => type === 'string') ?? {};
    forms.push(['empty', ''], ['white space', ' \t '], ['padded', ` ${usual} `], ['in capital letters', usual.toUpperCase()]);
    forms.push(['with a line break', `${usual}\r\n${usual}`], ['with a zero byte', `${usual}\0`], ['with a tab', `a\t${usual}`]);
    forms.push(['not in ASCII', usual.replace(/[a-z](?=[^a-z]*$)/i, 'ü')]);
    if (typeof maxLength === 'number') {
      forms.push(['longest', stretch(usual, maxLength)], ['longer than allowed', stretch(usual, maxLength + 1)]);
    }
  }
  const array = allForms(schema).find(({ type }) => type === 'array');
  if (array) {
    const [item] = [usual].flat();
    const { maxItems = 100 } = array as { maxItems?: number };
    forms.push(['an empty array', []], ['twice in the array', [item, item]], ['an array with null', [item, null]], ['an array with a number', [7]]);
    forms.push(['an array with an empty text', ['']], ['more items than allowed', Array.from({ length: maxItems + 1 }, () => item)]);
  }
  if (types.includes('object')) forms.push(['an empty object', {}], ['an object with null', { a: null }]);
  return forms;
}

/** Lists the forms of a parameter of a query; each value is a text of the query. */
function formsOfQuery({ name, schema }: Field, usual: unknown): Form[] {
  const text = String(usual);
  const pair = (value: string) => `${name}=${encodeURIComponent(value)}`;
  const forms: [string, string | undefined][] = [
    ['absent', undefined],
    ['empty', pair('')],
    ['white space', pair(' ')],
    ['padded', pair(` ${text} `)],
    ['in capital letters', pair(text.toUpperCase())],
    ['of another kind', pair('maybe')],
    ['null', pair('null')],
    ['repeated in the query', `${pair(text)}&${pair(text)}`],
  ];
  if (schema.type === 'integer') {
    for (const number of ['0', '-1', '1.5', '1e1', '01', '+1', '0x1', '201', '99999999999999999999']) forms.push([number, pair(number)]);
  }
  return forms;
}

/** Whether the OpenAPI document says that a request is valid. */
function isValid(operation: OpenApiOperation, field: Field, { query, body }: Sent): boolean {
  if (field.place === 'body') return ajv.validate(bodySchemaOf(operation) ?? {}, body) === true;
  const value = new URLSearchParams(query).get(field.name);
  return value === null || ajvOfQueries.validate({ properties: { value: field.schema } }, { value }) === true;
}

async function callOperation(mailbox: Mailbox, operationId: OperationId, { params, query, body }: Sent): Promise<Outcome> {
  const { method, path }: { readonly method: string; readonly path: string } = OPERATIONS[operationId];
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const response = await mailbox.fetch(`${mailbox.baseUrl}${target}${query === '' ? '' : `?${query}`}`, {
    method,
    headers: { 'X-API-Key': CALLS[operationId]?.key ?? mailbox.keys.acme.tenant },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const named = response.headers.get('x-mock-assumed')?.split(', ') ?? [];
  return { status: response.status, json: isJson ? JSON.parse(text) : {}, named };
}

/** Returns the resource as the service shows it after a request: by its own operation if there is one. */
async function readResource(mailbox: Mailbox, operationId: OperationId, sent: Sent, { json }: Outcome): Promise<Fields> {
  const { method, path }: { readonly method: string; readonly path: string } = OPERATIONS[operationId];
  const isSending = /\/(?:send|reply|reply-all|forward)(?:\/|$)/.test(path);
  const own = OPERATION_IDS.find((each) => {
    const row: { readonly method: string; readonly path: string } = OPERATIONS[each];
    if (row.method !== 'GET') return false;
    if (isSending) return each === 'getMessage';
    return method === 'PATCH' ? row.path === path : new RegExp(`^${RegExp.escape?.(path) ?? path.replace(/[{}]/g, '\\$&')}/\\{\\w+\\}$`).test(row.path);
  });
  if (!own) return json;
  const names = Array.from(OPERATIONS[own].path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
  const last = names.at(-1) ?? '';
  const added = method === 'PATCH' ? {} : { [last]: String(last === 'domain' ? json.domain : json.id) };
  const params = { ...sent.params, ...added };
  return (await callOperation(mailbox, own, { params, query: '', body: undefined })).json;
}

/** The names that a field has in a reply, if it has another one there. */
const SHOWN_AS: Readonly<Record<string, string>> = { 'addInboxAddress email': 'address', 'addInboxAddress primary': 'isPrimary' };

/** Returns whether a stored value is the one that was sent. One value and a list of it are the same. */
function isSame(sent: unknown, stored: unknown): boolean {
  const forms = [sent, [sent], Array.isArray(sent) ? sent.join(', ') : sent];
  return forms.some((form) => JSON.stringify(form) === JSON.stringify(stored));
}

/** Returns whether a field that was not sent has no value. */
function isUnset(stored: unknown, { schema }: Field): boolean {
  return stored === schema.default || [undefined, null, '', '[]', false].includes(Array.isArray(stored) ? JSON.stringify(stored) : (stored as never));
}

/** Returns the entries that explain an outcome: those that a usual value does not lead to, or that name the field. */
function explanations(outcome: Outcome, usual: Outcome, field: string): string[] {
  return outcome.named.filter((named) => {
    if (OF_EVERY_ERROR.includes(named)) return false;
    const { fields = [] } = BEHAVIOURS[named as keyof typeof BEHAVIOURS] as BehaviourDefinition & { fields?: readonly string[] };
    return !usual.named.includes(named) || fields.includes(field);
  });
}

describe('no outcome of an odd value is a decision without an entry in the ledger', () => {
  for (const [operationId, operation] of OPERATIONS_BY_ID) {
    const fields = fieldsOf(operation);
    test(`${operationId}: ${fields.map(({ name }) => name).join(', ') || 'no fields'}`, async () => {
      const mailbox = createMailbox({ seed: 7 });
      const missing: string[] = [];
      const { params = {}, body } = CALLS[operationId] ?? {};
      const base: Sent = { params, query: '', body: body as Fields | undefined };
      const send = (sent: Sent) => callOperation(mailbox, operationId, sent);

      for (const field of fields) {
        const usual = usualValue(operationId, field);
        const withForm = (value: unknown): Sent => {
          if (field.place === 'query') return { ...base, query: (value as string | undefined) ?? '' };
          const { [field.name]: _, ...others } = base.body ?? {};
          return { ...base, body: value === undefined ? others : { ...others, [field.name]: value } };
        };
        const usualForm = field.place === 'query' ? `${field.name}=${encodeURIComponent(String(usual))}` : usual;
        mailbox.reset();
        const usualOutcome = await send(withForm(usualForm));
        expect(usualOutcome.status, `${operationId} ${field.name} ${JSON.stringify(usualForm)} ${JSON.stringify(usualOutcome.json)}`).toBeLessThan(300);
        const forms = field.place === 'query' ? formsOfQuery(field, usual) : formsOfBody(field, usual);

        for (const [form, value] of forms) {
          mailbox.reset();
          const sent = withForm(value);
          const outcome = await send(sent);
          const isAccepted = outcome.status < 300;
          const isDetermined = isAccepted === isValid(operation, field, sent);
          let what = isDetermined ? undefined : `${outcome.status} ${isAccepted ? '' : String(outcome.json.error)}`;
          if (isAccepted && ALWAYS_A_DECISION.has(form)) what ??= `${outcome.status}`;
          if (isAccepted && field.place === 'body' && what === undefined) {
            const shown = await readResource(mailbox, operationId, sent, outcome);
            const name = SHOWN_AS[`${operationId} ${field.name}`] ?? field.name;
            const isKept = value === undefined ? isUnset(shown[name], field) : !(name in shown) || isSame(value, shown[name]);
            if (!isKept && OPERATIONS[operationId].method === 'POST') what = `stored as ${JSON.stringify(shown[name])?.slice(0, 100)}`;
            if (!isKept && OPERATIONS[operationId].method === 'PATCH' && value !== undefined) what = `stored as ${JSON.stringify(shown[name])?.slice(0, 100)}`;
          }
          if (what === undefined || `${operationId} ${field.name} ${form}` in STATED) continue;
          if (explanations(outcome, usualOutcome, field.name).length === 0)
            missing.push(`${operationId}, ${field.name}, ${form}: ${what}`);
        }
      }

      // The same request twice: two resources with the same name.
      // An unknown field, and a query that nobody knows.
      mailbox.reset();
      const first = await send(base);
      mailbox.reset();
      const unknown: readonly (readonly [string, Sent])[] = [
        ['an unknown parameter', { ...base, query: 'odd=1' }],
        ...(OPERATIONS[operationId].method === 'GET' ? [] : [['an unknown field', { ...base, body: { ...base.body, odd: 1 } }] as const]),
      ];
      for (const [form, sent] of unknown) {
        mailbox.reset();
        if (explanations(await send(sent), first, '').length === 0) missing.push(`${operationId}, ${form}`);
      }
      expect(missing).toEqual([]);
    });
  }

});
