import { readFileSync } from 'node:fs';
import { BaseResolver, createConfig, lintDocument, Source } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type BehaviourOptions, createMailbox, type OpenApiDocument } from 'agent-mailbox-mock';
import Ajv from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import {
  type BehaviourValues,
  type ChangeableId,
  changeableDefinition,
  parseBehaviours,
} from '../../../src/contract/behaviours.ts';
import { ERRORS } from '../../../src/contract/errors.ts';
import { createOpenApi } from '../../../src/contract/openapi/create-openapi.ts';
import type { OperationDefinition } from '../../../src/contract/operation.ts';
import { OPERATION_ROWS } from '../../../src/contract/operations.ts';
import { examplesText } from '../../support/openapi-examples.ts';
import { withoutDescriptions } from '../../support/without-descriptions.ts';

const ajv = new Ajv.default({ validateFormats: false });

const compile = onceFor((schema) => ajv.compile(withoutOthers(schema) as object));
const isSchema = onceFor((schema) => ajv.validateSchema(schema));

/** It compiles the schema of OpenAPI once. */
const validator = new Validator();

const RULES = { 'operation-tag-defined': 'error', 'no-ambiguous-paths': 'error' } as const;

const LINT = createConfig({ extends: ['recommended'], rules: RULES });

/** The rule compiles every schema of every document, and takes most of the time; the test of examples says the same. */
const LINT_WITHOUT_EXAMPLES = createConfig({
  extends: ['recommended'],
  rules: { ...RULES, 'no-invalid-media-type-examples': 'off' },
});

interface Described {
  readonly operationId: string;
  readonly responses: Record<string, { readonly content?: object }>;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
}

const openApi = (behaviours: BehaviourOptions = {}) => createOpenApi(parseBehaviours(behaviours));

/** The default document, and one for each other value of each behaviour that the document depends on; no duplicates. */
function distinctDocuments(): [title: string, document: OpenApiDocument][] {
  const documents = new Map<string, [string, OpenApiDocument]>();
  const add = (title: string, document: OpenApiDocument) => {
    const shape = withoutDescriptions(document);
    if (!documents.has(shape)) documents.set(shape, [title, document]);
  };
  add('the defaults', DEFAULT);
  for (const id of behavioursRead()) {
    const { choices, default: usual } = changeableDefinition(id);
    for (const current of Object.keys(choices))
      if (current !== usual) add(`${id}=${current}`, openApi({ [id]: current }));
  }
  return [...documents.values()];
}

/** The behaviours that the document depends on; creating it for every behaviour takes long. */
function behavioursRead(): ChangeableId[] {
  const read = new Set<ChangeableId>();
  const get = (values: BehaviourValues, id: ChangeableId) => {
    read.add(id);
    return values[id];
  };
  createOpenApi(new Proxy({ ...parseBehaviours() }, { get: get as never }));
  return [...read];
}

const DEFAULT = openApi();

const DOCUMENTS = distinctDocuments();

test.each(DOCUMENTS)('the document under %s passes the linter', async (title, document) => {
  expect(await lint(document, title === 'the defaults' ? LINT : LINT_WITHOUT_EXAMPLES)).toEqual([]);
});

test.each(DOCUMENTS)('the document under %s is valid OpenAPI 3.1', async (_, document) => {
  expect(await validator.validate({ ...document })).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  expect(brokenParts(document)).toEqual([]);
});

test.each(DOCUMENTS)('under %s no resource is written out in place of its name', (_, document) => {
  const { schemas } = document.components as { schemas: Record<string, object> };
  const fieldsOf = (value: unknown) => Object.keys(value ?? {}).join();
  const fields = new Set(Object.values(schemas).map(fieldsOf));
  const written = walk({ paths: document.paths, schemas: Object.values(schemas).flatMap(Object.values) });
  const alike = written.filter(([, value]) => typeof value === 'object' && fields.has(fieldsOf(value)));
  const bodies = new Set(alike.map(([, value]) => JSON.stringify(value)));
  expect(Object.keys(schemas).filter((name) => bodies.has(JSON.stringify(schemas[name])))).toEqual([]);
});

test.each(DOCUMENTS)('the examples under %s have just the fields of their schemas', (_, document) => {
  const { schemas } = document.components as { schemas: Record<string, object> };
  const compileOf = (schema: object) => compile({ ...schema, $defs: referredBy(schema, schemas) });
  for (const schema of Object.values(schemas)) expect(() => compileOf(schema)).not.toThrow();
  const problems = walk(document.paths).flatMap(([place, value]) => {
    const { schema, example } = (value ?? {}) as { schema?: object; example?: unknown };
    if (schema === undefined || example === undefined) return [];
    const validate = compileOf(schema);
    return validate(example) ? [] : [`${place}: ${ajv.errorsText(validate.errors)}`];
  });
  expect(problems).toEqual([]);
});

test('an example with another field is noticed, also within another schema', () => {
  const named = { A: { type: 'object', properties: { b: { type: 'string' } } } };
  const schema = { type: 'object', properties: { a: { $ref: '#/components/schemas/A' } }, required: ['a'] };
  const isValid = compile({ ...schema, $defs: referredBy(schema, named) });
  const examples = [{ a: { b: 'x' } }, { a: { b: 1 } }, {}, { a: {}, c: 1 }, { a: { c: 1 } }];
  expect(examples.map((example) => isValid(example))).toEqual([true, false, false, false, false]);
});

test('each operation with a body or a reply has an example, which a call to the default fixture made', async () => {
  const text = readFileSync(new URL('../../../src/contract/openapi/examples.json', import.meta.url), 'utf8');
  expect(text).toBe(await examplesText());
  const examples = JSON.parse(text) as Record<string, { reply?: object }>;
  const bytes = ['getRawMessage', 'getAttachment'];
  expect(Object.keys(examples).filter((id) => !examples[id]?.reply)).toEqual(bytes);
});

test('the resources have names, and an error may have a code of a later version', () => {
  const { schemas } = DEFAULT.components as { schemas: Record<string, object> };
  const names = ['Webhook', 'Inbox', 'Message', 'Thread', 'Draft', 'List', 'Domain', 'Workspace', 'Tenant', 'Error'];
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(names));
  expect(ajv.validate(schemas.Error ?? {}, { error: 'x', code: 'NEW_CODE' })).toBe(true);
});

test('the linter refuses a document that names no group and one path twice', async () => {
  const document = JSON.parse(JSON.stringify(DEFAULT));
  document.paths['/health'].get.tags = ['Nowhere'];
  document.paths['/v1/webhooks/{other}'] = { get: { ...document.paths['/health'].get, operationId: 'other' } };
  const rules = (await lint(document)).map((problem) => problem.split(' ')[0]);
  expect(rules).toEqual(expect.arrayContaining(['operation-tag-defined', 'no-identical-paths']));
});

test('every operation is described once, and nothing of the control plane', () => {
  const described = operations().map(({ method, path, operationId }) => `${operationId} ${method} ${path}`);
  expect(described.sort()).toEqual(OPERATION_ROWS.map(({ id, method, path }) => `${id} ${method} ${path}`).sort());
});

test('no two path templates match the same path', () => {
  const shapes = Object.keys(DEFAULT.paths).map((path) => path.replaceAll(/\{[^}]+\}/g, '{}'));
  expect(shapes).toEqual([...new Set(shapes)]);
});

test('an operation has just the success statuses of its row', () => {
  for (const { operationId, responses } of operations()) {
    const row = rowOf(operationId);
    const statuses = Object.keys(responses)
      .map(Number)
      .filter((status) => status < 300);
    const expected = [row.status, row.otherStatus].filter((status) => status !== undefined);
    expect(statuses.sort(), operationId).toEqual(expected.sort());
  }
});

test('an operation has the errors of its row', () => {
  for (const { operationId, responses } of operations()) {
    const { errors = [] } = rowOf(operationId);
    const statuses = Object.keys(responses).map(Number);
    expect(statuses, operationId).toEqual(expect.arrayContaining(errors.map((code) => ERRORS[code].status)));
  }
});

test('every operation can return 429, with the headers of a rate limit', async () => {
  const mailbox = createMailbox();
  const described = operations();
  expect(described.filter(({ responses }) => !('429' in responses))).toEqual([]);
  const documented = (createOpenApi(parseBehaviours()).components.responses as Record<string, { headers: object }>)
    .RATE_LIMITED?.headers;
  mailbox.addFault({ on: 'request', rateLimit: { limit: 0, per: '1m' } });
  const { status, headers } = await mailbox.fetch(`${mailbox.baseUrl}/health`);
  const sent = [...headers.keys()].filter((name) => /^(?:retry-after|ratelimit-.*)$/.test(name));
  expect([status, sent.length]).toEqual([429, 5]);
  expect(Object.keys(documented ?? {}).map((name) => name.toLowerCase())).toEqual(expect.arrayContaining(sent));
});

test('a query parameter may be left out', () => {
  for (const { operationId, parameters = [] } of operations()) {
    const inQuery = parameters.filter((parameter) => parameter.in === 'query');
    const { query } = rowOf(operationId);
    expect(inQuery.map(({ name }) => name)).toEqual(Object.keys(query?.(readDefault).shape ?? {}));
    expect(inQuery.filter(({ required }) => required)).toEqual([]);
  }
});

test('bytes are described by their media type alone', () => {
  for (const { operationId, responses } of operations()) {
    const { content, status } = rowOf(operationId);
    if (content) expect(responses[status]?.content, operationId).toEqual({ [content]: {} });
  }
});

test('under errors.shape=error-only no error has a code', () => {
  const { schemas } = openApi({ 'errors.shape': 'error-only' }).components as { schemas: { Error: object } };
  expect(schemas.Error).toMatchObject({ required: ['error'], additionalProperties: false });
  expect(JSON.stringify(schemas.Error)).not.toContain('"code"');
});

test('under requests.unknown-fields=refused a body takes no other field', () => {
  const { paths } = openApi({ 'requests.unknown-fields': 'refused' });
  expect(paths['/v1/webhooks']?.post).toMatchObject({
    requestBody: { content: { 'application/json': { schema: { additionalProperties: false } } } },
  });
});

const readDefault = <Id extends ChangeableId>(id: Id) => changeableDefinition(id).default as never;

function operations(): (Described & { readonly method: string; readonly path: string })[] {
  return Object.entries(DEFAULT.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      ...(described as unknown as Described),
      method: method.toUpperCase(),
      path,
    })),
  );
}

function rowOf(operationId: string): OperationDefinition {
  const row = OPERATION_ROWS.find(({ id }) => id === operationId);
  if (!row) throw new Error(`There is no operation ${operationId}.`);
  return row;
}

const externalRefResolver = new BaseResolver();

/** The problems that the linter finds in a document, with warnings, each with its rule and location. */
async function lint(document: OpenApiDocument, config = LINT): Promise<string[]> {
  // The text would only be read to print a problem.
  const parsed = { source: new Source('openapi.json', ''), parsed: document };
  const problems = await lintDocument({ document: parsed, config: await config, externalRefResolver });
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''} ${message}`);
}

/** What the validator passes over: schemas that are not JSON Schema, and references that lead nowhere. */
function brokenParts(document: unknown): string[] {
  return walk(document).flatMap(([key, value]) => {
    if (key === 'schema' && !isSchema(value as object)) return [JSON.stringify(value)];
    return key === '$ref' && lookUp(document, String(value)) === undefined ? [String(value)] : [];
  });
}

/** Returns a function that returns what another one returned for an equal schema: most documents have the same ones. */
function onceFor<T>(work: (schema: object) => T): (schema: object) => T {
  const results = new Map<string, T>();
  return (schema) => {
    const text = JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/');
    if (!results.has(text)) results.set(text, work(JSON.parse(text)));
    return results.get(text) as T;
  };
}

/** Returns a schema under which an object has no field that is not described. */
function withoutOthers(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutOthers);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, withoutOthers(part)]));
  return 'properties' in parts ? { unevaluatedProperties: false, ...parts } : parts;
}

/** The schemas to which one refers, itself or by way of others, by their names. */
function referredBy(schema: object, schemas: Record<string, object>, found: Record<string, object> = {}) {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)) {
    const named = schemas[name];
    if (!named || name in found) continue;
    found[name] = named;
    referredBy(named, schemas, found);
  }
  return found;
}

/** Every property of a JSON value, at any depth. */
function walk(value: unknown, found: [key: string, value: unknown][] = []): [key: string, value: unknown][] {
  if (typeof value !== 'object' || value === null) return found;
  for (const entry of Object.entries(value)) {
    found.push(entry);
    walk(entry[1], found);
  }
  return found;
}

function lookUp(document: unknown, reference: string): unknown {
  const steps = reference.replace(/^#\//, '').split('/');
  return steps.reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step], document);
}
