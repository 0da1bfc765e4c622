import { createSilentReader, parseBehaviours } from '../contract/behaviours.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import type { OperationRow } from '../contract/operations.ts';

/** What is sent for each field of a body in turn, whatever its type is. */
const VALUES: Readonly<Record<string, unknown>> = {
  'a number': 5,
  'an empty text': '',
  null: null,
  'an empty list': [],
  'a list of a text': ['verify'],
  'a text of 300 characters': 'v'.repeat(300),
  'a text with an emoji': 'verify \u00e9 \u{1F600}',
};

/** What is sent for each parameter of a query in turn. */
const QUERY_VALUES = ['', '0', '-1', '2', '200', '201', '1000000000', '1.5', 'verify'];

/** Times between which nothing of the run was, and those between which everything was. */
const WINDOWS = [
  ['2000-01-01T00:00:00.000Z', '2001-01-01T00:00:00.000Z'],
  ['2099-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z'],
  ['2000-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z'],
] as const;

/** The parameters of which any number may be sent. */
const NUMERIC = ['limit', 'offset'];

const fieldNamesOf = (row: OperationRow, part: 'body' | 'query'): string[] => {
  const { readBehaviour } = createSilentReader(parseBehaviours());
  const schema = (row as OperationDefinition)[part]?.(readBehaviour);
  return Object.keys(schema?.shape ?? {});
};

/**
 * Returns the changes of a valid body by which one of the fields of the operation is missing, or has another value, each
 * with a description. Some of the changed bodies are valid too.
 */
export function bodyVariants(row: OperationRow): { readonly note: string; readonly changes: object }[] {
  return fieldNamesOf(row, 'body').flatMap((name) => [
    { note: `without ${name}`, changes: { [name]: undefined } },
    ...Object.entries(VALUES).map(([note, value]) => ({
      note: `with ${note} as ${name}`,
      changes: { [name]: value },
    })),
  ]);
}

/** Returns the queries in which one parameter of the operation has a value at or beyond a limit. */
export function queryVariants(row: OperationRow): string[] {
  const names = fieldNamesOf(row, 'query');
  const variants = names.flatMap((name) => {
    const values = NUMERIC.includes(name) ? QUERY_VALUES : ['', 'verify'];
    return values.map((value) => `?${name}=${value}`);
  });
  const hasWindow = names.includes('from') && names.includes('to');
  return hasWindow ? [...variants, ...WINDOWS.map(([from, to]) => `?from=${from}&to=${to}`)] : variants;
}
