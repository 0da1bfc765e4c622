import { isBytes, toBase64 } from '../basics/base64.ts';
import { parseForeignJson } from '../basics/foreign-json.ts';
import { NAME } from '../basics/version.ts';
import type { KeptCheckpoint } from '../control/state/checkpoints.ts';
import type { WholeFixture } from '../control/state/state-keeper.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';

/** The first line of a state file. */
interface FirstLine {
  readonly type: typeof TYPE;
  /** How many lines follow. */
  readonly rows: number;
  /** The state. Every list of rows in it is empty. */
  readonly state: unknown;
}

/** Every other line: one row, and the place of its list in the state, such as `["tenants","acme","rows","inboxes"]`. */
interface RowLine {
  readonly at: readonly (string | number)[];
  readonly row: unknown;
}

const TYPE = `state of ${NAME}`;

/** A list of rows, with its place in the state. */
type List = { readonly at: RowLine['at']; readonly rows: readonly unknown[] };

/**
 * Writes a state as JSON Lines: the first line has the state without its rows, and each row has a line of its own. So
 * neither a writer nor a reader needs one string with the whole state, which could exceed the maximum length of a string.
 */
export function* writeLines({ kept, ...fixture }: WholeFixture): Generator<string, void> {
  const lists: List[] = [];
  const state = {
    ...takeRows(fixture, [], lists),
    kept: kept && {
      ...kept,
      checkpoints: takeRowsOfAll(kept.checkpoints, ['kept', 'checkpoints'], lists),
      sandboxes: takeRowsOfAll(kept.sandboxes, ['kept', 'sandboxes'], lists)?.map((sandbox, index) => ({
        ...sandbox,
        checkpoints: takeRowsOfAll(sandbox.checkpoints, ['kept', 'sandboxes', index, 'checkpoints'], lists),
      })),
    },
  };
  const rowCount = lists.reduce((sum, list) => sum + list.rows.length, 0);
  yield toLine({ type: TYPE, rows: rowCount, state } satisfies FirstLine);
  for (const { at, rows } of lists) {
    const field = BYTE_FIELDS[String(at.at(-1))];
    for (const row of rows) yield toLine({ at, row: encodeBytes(row, field) } satisfies RowLine);
  }
}

const toLine = (value: object) => `${JSON.stringify(value)}\n`;

/** Moves the rows of a fixture to `lists`. The fixture that is returned has an empty list in place of each list. */
function takeRows(fixture: FixtureInput, at: RowLine['at'], lists: List[]): object {
  const tenants = Object.entries(fixture.tenants).map(([handle, tenant]) => {
    const rows = Object.entries({ ...tenant.rows } as Readonly<Record<string, readonly object[]>>).map(
      ([kind, list]) => {
        lists.push({ at: [...at, 'tenants', handle, 'rows', kind], rows: list });
        return [kind, []];
      },
    );
    return [handle, { ...tenant, rows: Object.fromEntries(rows) }];
  });
  return { ...fixture, tenants: Object.fromEntries(tenants) };
}

/** Moves the rows of checkpoints or sandboxes to `lists`. */
function takeRowsOfAll<Each extends Pick<KeptCheckpoint, 'fixture'>>(
  all: readonly Each[] | undefined,
  at: RowLine['at'],
  lists: List[],
) {
  return all?.map((each, index) => ({ ...each, fixture: takeRows(each.fixture, [...at, index, 'fixture'], lists) }));
}

/**
 * Reads the lines of a state. The bytes of mail become bytes here, because base64 needs more memory. The state is
 * checked when it is restored.
 *
 * @throws {Error} if a line is wrong or lines are missing; the message says which.
 */
export function readLines(content: Buffer): WholeFixture {
  let first: FirstLine | undefined;
  let [number, start] = [0, 0];
  while (start < content.length) {
    const end = content.indexOf('\n', start);
    const line = content.subarray(start, end < 0 ? content.length : end);
    number += 1;
    start += line.length + 1;
    const value = parseLine(String(line), number);
    if (first === undefined) first = checkFirst(value);
    else addRow(first.state, value as Partial<RowLine> | null, number);
  }
  if (first === undefined) throw new Error('it is empty');
  if (first.rows !== number - 1) throw new Error(`it has ${number - 1} rows instead of ${first.rows}`);
  return first.state as WholeFixture;
}

function parseLine(line: string, number: number): unknown {
  try {
    return parseForeignJson(line);
  } catch (error) {
    throw new Error(`line ${number} is not JSON (${(error as Error).message})`);
  }
}

function checkFirst(value: unknown): FirstLine {
  const first = value as FirstLine | null;
  if (first?.type === TYPE) return first;
  throw new Error(`its first line must have the type "${TYPE}"; a fixture is loaded by --fixtures, not by --state`);
}

/** Adds a row to its list. */
function addRow(state: unknown, line: Partial<RowLine> | null, number: number): void {
  const { at = [], row } = line ?? {};
  if (!Array.isArray(at)) throw new Error(`line ${number} has no place in the state`);
  const list = at.reduce<unknown>((part, step) => Object.getOwnPropertyDescriptor(Object(part), step)?.value, state);
  if (!Array.isArray(list)) throw new Error(`line ${number} has no place in the state`);
  list.push(decodeBytes(row, BYTE_FIELDS[String(at.at(-1))]));
}

/** The field with the bytes of mail, for each kind of row that has such a field. */
const BYTE_FIELDS: Readonly<Record<string, string>> = { messages: 'raw', attachments: 'content' };

/**
 * Replaces the bytes in a field of a row by base64. A row that was loaded from a state file has bytes. Any
 * other row has a getter that returns base64, so it stays as it is.
 */
function encodeBytes(row: unknown, field: string | undefined): unknown {
  const bytes = field && Object.getOwnPropertyDescriptor(Object(row), field)?.value;
  return field && isBytes(bytes) ? { ...(row as object), [field]: toBase64(bytes) } : row;
}

/**
 * Returns whether a text is base64 with its padding. The expression takes one character, because a repetition of many
 * millions of them can need more stack than there is.
 */
function isBase64(text: string): boolean {
  if (text === '' || text.length % 4 > 0) return false;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return !/[^A-Za-z0-9+/]/.test(text.slice(0, text.length - padding));
}

/**
 * Replaces the base64 in a field of a row by bytes. An empty text stays as it is, and is valid. Anything else stays as it
 * is too, and is refused when the state is restored.
 */
function decodeBytes(row: unknown, field: string | undefined): unknown {
  const text = field === undefined ? undefined : (row as Record<string, unknown> | null)?.[field];
  if (field === undefined || typeof text !== 'string') return row;
  if (!isBase64(text)) return row;
  return { ...(row as object), [field]: new Uint8Array(Buffer.from(text, 'base64')) };
}
