import { domainOf, SANDBOX_DOMAIN } from '../../../contract/addresses/email-address.ts';
import { COLUMNS, type ColumnType, type SECRETS, splitType } from '../../../fixture/columns.ts';
import { readFixtureIds, readFixtureKeys, type TenantIds, type TenantKeys } from '../../../fixture/keys-and-ids.ts';
import type { Fixture, FixtureTenant } from '../../../fixture/parse-fixture.ts';
import { createEnvironment, type Environment, newHex, newId, newKey, newPassword } from '../../environment.ts';
import { ROW_KINDS } from '../database.ts';
import type { WorldSnapshot } from '../world.ts';
import { Worlds } from '../worlds.ts';
import { seed } from './seed.ts';

/** A tenant of a fixture, of which `copyTenant` can make any number of copies. */
export interface TenantTemplate {
  /** The handle of the tenant in the fixture. */
  readonly handle: string;
  readonly snapshot: WorldSnapshot;
  readonly keys: TenantKeys;
  readonly ids: TenantIds;
  /** The size of the mail of the tenant, in bytes. */
  readonly mailBytes: number;
}

/** A copy of a tenant, with a domain, ids and keys of its own. */
export interface TenantCopy extends Pick<TenantTemplate, 'handle' | 'snapshot' | 'keys' | 'ids'> {
  /** The domain of the copy, such as `3f9c2a71b04d.sandbox.test`. */
  readonly domain: string;
}

/** Creates the template of the tenant with this handle. */
export function createTemplate({ operator }: Fixture, handle: string, tenant: FixtureTenant): TenantTemplate {
  const fixture = { operator, tenants: { [handle]: tenant } };
  const worlds = new Worlds(createEnvironment());
  seed(worlds, fixture);
  const [snapshot] = worlds.snapshot().tenants;
  const keys = readFixtureKeys(fixture)[handle];
  const ids = readFixtureIds(fixture)[handle];
  if (!snapshot || !ids || typeof keys !== 'object') throw new Error(`The tenant ${handle} was not seeded.`);
  return { handle, snapshot, keys, ids, mailBytes: worlds.countMailBytes() };
}

/**
 * Copies a tenant. Each id, key, password of an inbox and domain is replaced by a new value. The first domain becomes the domain of the
 * copy, and the other domains become domains below it. The copy shares all other texts with the template.
 */
export function copyTenant({ handle, snapshot, keys, ids }: TenantTemplate, environment: Environment): TenantCopy {
  const domain = `${newHex(environment, 6)}.${SANDBOX_DOMAIN}`;
  const replaceId = createReplacer(() => newId(environment));
  const replaceKey = createReplacer((key) => newKey(environment, key.slice(0, 3)));
  const newDomains = new Map(
    snapshot.domains.map(({ domain: name }, index) => [name, index === 0 ? domain : `${name}.${domain}`]),
  );
  const move = (address: string) => moveAddress(address, newDomains);
  const replaceDomain = (name: string) => newDomains.get(name) ?? name;
  const change: RowChange = {
    id: replaceId,
    domain: replaceDomain,
    address: move,
    addresses: move,
    key: replaceKey,
    // Two inboxes of the tenant may have the same password; the inboxes of the copy never do.
    mailPassword: () => newPassword(environment),
  };
  const copies = ROW_KINDS.map((kind) => [kind, snapshot[kind].map((row) => copyRow(COLUMNS[kind], row, change))]);
  return {
    handle,
    domain,
    snapshot: Object.fromEntries(copies) as unknown as WorldSnapshot,
    keys: mapTexts(keys, replaceKey) as TenantKeys,
    ids: mapTexts(ids, replaceId) as TenantIds,
  };
}

/** The types of secrets that are new in a copy. */
type NewSecret = {
  [Type in keyof typeof SECRETS]: (typeof SECRETS)[Type] extends 'new' ? Type : never;
}[keyof typeof SECRETS];

/** For each type of column that changes in a copy, the function that returns the new value. */
type RowChange = { readonly [Type in ColumnType]?: (text: string) => string } & {
  readonly [Type in NewSecret]: (text: string) => string;
};

function copyRow<Row extends object>(columns: Readonly<Record<string, string>>, row: Row, change: RowChange): Row {
  const copy = { ...row } as Record<string, unknown>;
  for (const [column, type] of Object.entries(columns)) {
    const [value, replace] = [copy[column], change[splitType(type).name]];
    if (!replace || value === null) continue;
    copy[column] = Array.isArray(value) ? copyList(value, replace) : replace(String(value));
  }
  return Object.freeze(copy) as Row;
}

/** Changes each text of a list. If no text changes, returns the same list, so that copies share it. */
function copyList(texts: readonly string[], change: (text: string) => string): readonly string[] {
  const changed = texts.map(change);
  return changed.some((text, index) => text !== texts[index]) ? Object.freeze(changed) : texts;
}

/** Creates a function that replaces a text by a new one. The same text is always replaced by the same new text. */
function createReplacer(create: (text: string) => string): (text: string) => string {
  const replacements = new Map<string, string>();
  return (text) => {
    const replacement = replacements.get(text) ?? create(text);
    replacements.set(text, replacement);
    return replacement;
  };
}

/** Replaces the domain of an address, bare or in display form, if there is a new domain for it. */
function moveAddress(address: string, newDomains: ReadonlyMap<string, string>): string {
  const domain = domainOf(address.replace(/>$/, ''));
  const newDomain = newDomains.get(domain);
  if (newDomain === undefined) return address;
  const end = address.endsWith('>') ? '>' : '';
  return `${address.slice(0, address.lastIndexOf('@') + 1)}${newDomain}${end}`;
}

/** Replaces every text in nested objects. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value !== 'object' || value === null) return change(String(value));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, mapTexts(part, change)]));
}
