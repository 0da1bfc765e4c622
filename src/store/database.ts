// Only this file and models.ts import @mswjs/data, and of that library only its models. Its `factory()` is not used,
// because each of its queries scans all rows, and each of its databases parses the models again.
import { createModel } from '@mswjs/data/lib/model/createModel.js';
import { parseModelDefinition } from '@mswjs/data/lib/model/parseModelDefinition.js';
import { Collection } from './collection.ts';
import { MessageIndex } from './message-index.ts';
import { MODELS } from './models.ts';
import type { RowKind, Rows } from './rows.ts';

/** A collection for each kind of row. */
export type Collections = { readonly [Kind in RowKind]: Collection<Kind> };

/** One tenant's database. */
export interface Database extends Collections {
  /** The lists, threads and counts of `messages`, which that collection keeps up to date. */
  readonly messageIndex: MessageIndex;
}

/** The kinds of rows. */
export const ROW_KINDS = Object.keys(MODELS) as RowKind[];

/** Functions that copy a row into the shape of its model; all databases share them. */
const CREATE_ROW = Object.fromEntries(ROW_KINDS.map((kind) => [kind, createRowFactory(kind)])) as {
  readonly [Kind in RowKind]: (row: Rows[Kind]) => Rows[Kind];
};

/** Creates an empty database that shares nothing with any other. */
export function createDatabase(): Database {
  const collections = ROW_KINDS.map((kind) => [kind, createCollection(kind)]);
  const database = Object.fromEntries(collections) as Collections;
  const messageIndex: MessageIndex = new MessageIndex(() => database.messages.load(messageIndex));
  return { ...database, messageIndex };
}

function createCollection<Kind extends RowKind>(kind: Kind) {
  return new Collection<Kind>({ kind, create: CREATE_ROW[kind] });
}

function createRowFactory<Kind extends RowKind>(kind: Kind): (row: Rows[Kind]) => Rows[Kind] {
  const columns = Object.keys(MODELS[kind]) as (keyof Rows[Kind])[];
  const parsed = parseModelDefinition(MODELS, kind, MODELS[kind]);
  // V8 keeps an object that gets a dozen computed properties one by one as a hash table, in five times the memory. The
  // copies of a frozen object that has them all are compact, and share their description also when they are frozen.
  const empty = Object.freeze(Object.fromEntries(columns.map((column) => [column, null]))) as unknown as Rows[Kind];
  return (row) => {
    // The last argument is a database of the library, which it reads only to follow relations; the models have none.
    const entity = createModel(kind, MODELS[kind], MODELS, parsed, row as never, undefined as never);
    const created = { ...empty };
    for (const column of columns) created[column] = (entity as unknown as Rows[Kind])[column];
    return created;
  };
}
