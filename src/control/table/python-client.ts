import type { z } from 'zod';
import { type Json, toJsonSchema } from '../../contract/openapi/document.ts';
import { CONTROL_PATH } from './control-path.ts';
import { PYTHON_END, PYTHON_START } from './python-parts.ts';
import type { ControlRow } from './row.ts';

/** An argument of a method: its name in a request, its type in Python, and whether it must be given. */
type Argument = { readonly name: string; readonly type: string; readonly isRequired: boolean };

/** The types in Python, by the types in JSON Schema. */
const TYPES: Readonly<Record<string, string>> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' };

/** The type in Python that a method returns, by the media type of the reply. */
const RETURNS = {
  'application/json': 'Any',
  'text/html': 'str',
  'text/x-python': 'str',
  'application/octet-stream': 'bytes',
  'text/event-stream': 'Iterator[Dict[str, Any]]',
};

/** Writes the client of the control calls for Python 3.9 and newer: a method for each call, and what tests need. */
export function writePythonClient(rows: readonly ControlRow[]): string {
  return [PYTHON_START, ...rows.map(writeMethod), PYTHON_END].join('\n');
}

/** The argument for a body whose fields may have any name. */
const ANY_FIELDS: Argument = { name: 'fields', type: 'Dict[str, Any]', isRequired: true };

function writeMethod(row: ControlRow): string {
  const { id, method, path, summary, params, query, body, content = 'application/json' } = row;
  const inPath = argumentsOf(params).map((argument) => ({ ...argument, isRequired: true }));
  const [allInQuery, inBody] = [argumentsOf(query), argumentsOf(body)];
  const inQuery = allInQuery.filter(({ name }) => name !== 'sandbox');
  const takesAnyFields =
    body !== undefined && inBody.length === 0 && typeof toJsonSchema(body, 'input').additionalProperties === 'object';
  const all = [...inPath, ...inQuery, ...(takesAnyFields ? [ANY_FIELDS] : inBody)];
  const signature = [...all.filter(({ isRequired }) => isRequired), ...all.filter(({ isRequired }) => !isRequired)].map(
    ({ name, type, isRequired }) => `${toSnakeCase(name)}: ${isRequired ? type : `Optional[${type}] = None`}`,
  );
  if (signature.length > inPath.length) signature.splice(inPath.length, 0, '*');
  const target = path.slice(CONTROL_PATH.length).replace(/\{(\w+)\}/g, (_, name) => `{_quote(${toSnakeCase(name)})}`);
  return [
    `    def ${toSnakeCase(id)}(${['self', ...signature].join(', ')}) -> ${RETURNS[content]}:`,
    `        ${JSON.stringify(`${summary} ${method} ${path}`)}`,
    `        return self._call("${method}", f"${target}", ${writeFields(inQuery)}, ` +
      `${takesAnyFields ? ANY_FIELDS.name : body ? writeFields(inBody) : 'None'}, ` +
      `"${content}", ${allInQuery.length > inQuery.length ? 'True' : 'False'})`,
    '',
  ].join('\n');
}

function argumentsOf(schema: z.ZodType | undefined): Argument[] {
  if (!schema) return [];
  const { anyOf, oneOf, ...whole } = toJsonSchema(schema, 'input') as { anyOf?: Json[]; oneOf?: Json[] } & Json;
  const objects = anyOf ?? oneOf ?? [whole];
  const all = objects.flatMap((object) => propertiesOf(object, objects.length === 1));
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
}

/**
 * Lists the fields of one form of a body. If the body has several forms, no field is required, because another form may
 * not have it.
 */
function propertiesOf({ properties = {}, required = [] }: Json, isOnlyForm: boolean): Argument[] {
  return Object.entries(properties as Record<string, Json>).map(([name, { type }]) => ({
    name,
    type: TYPES[String(type)] ?? 'Any',
    isRequired: isOnlyForm && (required as readonly string[]).includes(name),
  }));
}

function writeFields(fields: readonly Argument[]): string {
  return `{${fields.map(({ name }) => `"${name}": ${toSnakeCase(name)}`).join(', ')}}`;
}

/** Writes a name as Python does. A reserved word, such as `from`, gets an underscore. */
function toSnakeCase(name: string): string {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return /^(?:from|in|is|not|or|and|class|def|for|if|with|as)$/.test(snake) ? `${snake}_` : snake;
}
