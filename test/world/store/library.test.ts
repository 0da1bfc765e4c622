import { factory } from '@mswjs/data';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDatabase, INDEXED, MODELS, ROW_KINDS } from '../../../src/world/store/database.ts';
import type { RowKind } from '../../../src/world/store/rows.ts';

const IDS = ['a', 'b', 'c', 'd'];
const OWNERS = ['one', 'two'];

type Row = Record<string, unknown> & { readonly id: string };

/** What the test uses of a collection of ours, for any kind of row. */
interface Ours {
  insert(row: Row): unknown;
  update(id: string, changes: object): unknown;
  remove(id: string): unknown;
  restore(rows: readonly unknown[]): void;
  all(): unknown[];
  get(id: string): unknown;
  by(property: string, value: string): unknown[];
}

/** What the test uses of the library's collection. */
interface Library {
  create(row: Row): unknown;
  update(query: object): unknown;
  delete(query: object): unknown;
  getAll(): unknown[];
  findFirst(query: object): unknown;
  findMany(query: object): unknown[];
}

/** The same call to both collections. */
interface Call {
  readonly ours: (collection: Ours) => unknown;
  readonly theirs: (collection: Library) => unknown;
}

const where = (property: string, value: string) => ({ where: { [property]: { equals: value } } });

/** The values of a property, by its description in the model: a constructor, or an object that gives a value of it. */
function valuesOf(described: unknown): fc.Arbitrary<unknown> {
  if (described === String) return fc.string();
  if (described === Number) return fc.nat();
  if (described === Boolean) return fc.boolean();
  if (described === Array) return fc.array(fc.string(), { maxLength: 3 });
  if (described === Object) return fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.string())));
  const { getValue } = described as { readonly getValue: () => unknown };
  return fc.option(valuesOf(typeof getValue() === 'string' ? String : Object));
}

/** The properties that hold an object. */
const OBJECTS = new Set(['metadata', 'headers', 'raw', 'content']);

/** Any call to the collections of a kind of row. */
function callsOf(kind: RowKind): fc.Arbitrary<Call> {
  const indexed: readonly string[] = INDEXED[kind];
  const { id: _, ...properties } = MODELS[kind];
  const own = Object.entries<unknown>(properties).filter(([name]) => !indexed.includes(name));
  const values = Object.fromEntries(own.map(([name, described]) => [name, valuesOf(described)]));
  // The library merges a changed object into the one that was there; our collections put it in its place.
  const changed = own.filter(([name]) => !OBJECTS.has(name));
  const changes = Object.fromEntries(changed.map(([name, described]) => [name, valuesOf(described)]));
  const keys = Object.fromEntries(indexed.map((name) => [name, fc.constantFrom(...OWNERS)]));
  const id = fc.constantFrom(...IDS);
  return fc.oneof(
    fc
      .record({ id, ...values, ...keys })
      .map((row): Call => ({ ours: (all) => all.insert(row), theirs: (all) => all.create(row) })),
    fc.tuple(id, fc.record(changes, { requiredKeys: [] })).map(
      ([key, data]): Call => ({
        ours: (all) => all.update(key, data),
        theirs: (all) => all.update({ ...where('id', key), data, strict: true }),
      }),
    ),
    id.map((key): Call => ({ ours: (all) => all.remove(key), theirs: (all) => all.delete(where('id', key)) })),
    fc.constant<Call>({ ours: (all) => all.restore(all.all()), theirs: () => undefined }),
  );
}

/** The result of a call as JSON, or that it was refused. */
function resultOf(act: () => unknown): string {
  try {
    return JSON.stringify(act() ?? null);
  } catch {
    return '"refused"';
  }
}

/** Expects two calls to have the same result. Most are the same text; the order of the properties may be another. */
function expectSameResult(ours: () => unknown, theirs: () => unknown): void {
  const [actual, expected] = [resultOf(ours), resultOf(theirs)];
  if (actual !== expected) expect(JSON.parse(actual)).toEqual(JSON.parse(expected));
}

test.each(ROW_KINDS)('%s are the same rows as in the database of @mswjs/data, after any calls', (kind) => {
  fc.assert(
    fc.property(fc.array(callsOf(kind), { maxLength: 30 }), (calls) => {
      const ours = createDatabase()[kind] as unknown as Ours;
      const theirs = (factory({ [kind]: MODELS[kind] } as never) as Record<string, unknown>)[kind] as Library;
      for (const each of calls) {
        expectSameResult(
          () => each.ours(ours),
          () => each.theirs(theirs),
        );
        expectSameResult(
          () => ours.all(),
          () => theirs.getAll(),
        );
        for (const key of IDS)
          expectSameResult(
            () => ours.get(key),
            () => theirs.findFirst(where('id', key)),
          );
        for (const property of INDEXED[kind])
          for (const owner of OWNERS)
            expectSameResult(
              () => ours.by(property, owner),
              () => theirs.findMany(where(property, owner)),
            );
      }
    }),
  );
});
