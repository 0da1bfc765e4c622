import { COLUMNS, SECRETS, splitType } from '../../fixture/columns.ts';
import { secretsInUrl } from '../secrets/secret-forms.ts';
import type { RowKind } from './rows.ts';

/** Reads the secrets in the value of a column. */
type ReadSecrets = (value: string) => readonly string[];

/** Returns how the secrets in a column are read; `undefined` for a column without secrets. */
function readerOf(type: string): ReadSecrets | undefined {
  const { name } = splitType(type);
  if (Object.hasOwn(SECRETS, name)) return (value) => [value];
  return name === 'webhookUrl' ? secretsInUrl : undefined;
}

/** For each kind of row that has secrets, its columns with secrets. */
const COLUMNS_WITH_SECRETS = Object.fromEntries(
  Object.entries(COLUMNS).flatMap(([kind, columns]) => {
    const found = Object.entries<string>(columns).flatMap(([column, type]) => {
      const read = readerOf(type);
      return read ? [{ column, read }] : [];
    });
    return found.length > 0 ? [[kind, found]] : [];
  }),
) as { readonly [Kind in RowKind]?: readonly { readonly column: string; readonly read: ReadSecrets }[] };

/** The kinds of rows that have secrets. */
export const KINDS_WITH_SECRETS = Object.keys(COLUMNS_WITH_SECRETS) as RowKind[];

/** Returns the secrets in a row: a key, a password, the secret of a webhook, and the credentials in its URL. */
export function secretsOfRow(kind: RowKind, row: object | undefined): readonly string[] {
  const columns = COLUMNS_WITH_SECRETS[kind];
  if (!columns || !row) return NO_SECRETS;
  const values = row as Readonly<Record<string, string | null>>;
  return columns.flatMap(({ column, read }) => read(values[column] ?? ''));
}

const NO_SECRETS: readonly string[] = [];
