import type { TenantIds } from '../../fixture/fixture-ids.ts';
import type { FixtureInput } from '../../fixture/parse-fixture.ts';
import { showRows } from '../../world/store/seed/show-row.ts';
import type { WorldSnapshot, WorldsSnapshot } from '../../world/store/world.ts';

/**
 * Writes a state as a fixture with the exact rows of each tenant. Handles of the fixture are kept; what was created
 * later gets one from its name. A state without an operator key gives a fixture without an operator.
 */
export function exportFixture(
  { operatorKeys, tenants }: WorldsSnapshot,
  known: Readonly<Record<string, TenantIds>>,
): FixtureInput {
  const handles = new Handles(
    'tenant',
    Object.entries(known).map(([handle, { tenant }]) => [handle, tenant]),
  );
  handles.reserve('operator');
  const exported = tenants.flatMap(({ tenants: [tenant], ...rows }) => {
    if (!tenant) return [];
    const handle = handles.of(tenant.id, tenant.name);
    return [[handle, { ...tenant, handles: nameRows(rows, known[handle]), rows: showRows(rows) }] as const];
  });
  const [key] = operatorKeys;
  return { ...(key !== undefined && { operator: { key } }), tenants: Object.fromEntries(exported) };
}

/** Returns the ids of the workspaces, inboxes and webhooks of a tenant, by handle. */
function nameRows({ workspaces, inboxes, webhooks }: Omit<WorldSnapshot, 'tenants'>, known: TenantIds | undefined) {
  return {
    workspaces: nameEach('workspace', workspaces, known?.workspaces, ({ slug }) => slug),
    inboxes: nameEach('inbox', inboxes, known?.inboxes, ({ username }) => username),
    webhooks: nameEach('webhook', webhooks, known?.webhooks, () => 'webhook'),
  };
}

function nameEach<Row extends { readonly id: string }>(
  noun: string,
  rows: readonly Row[],
  known: Readonly<Record<string, string>> = {},
  nameOf: (row: Row) => string,
): Record<string, string> {
  const handles = new Handles(noun, Object.entries(known));
  return Object.fromEntries(rows.map((row) => [handles.of(row.id, nameOf(row)), row.id]));
}

/** The handles of one kind of part: those of the fixture, and new ones. */
class Handles {
  readonly #noun: string;
  readonly #byId: ReadonlyMap<string, string>;
  readonly #taken: Set<string>;

  constructor(noun: string, known: readonly (readonly [handle: string, id: string])[]) {
    this.#noun = noun;
    this.#byId = new Map(known.map(([handle, id]) => [id, handle]));
    this.#taken = new Set(known.map(([handle]) => handle));
  }

  /** Makes a handle unavailable for new parts. */
  reserve(handle: string): void {
    this.#taken.add(handle);
  }

  /** Returns the handle of a part, or a new one from its name: `Acme Corp` becomes `acme-corp`. */
  of(id: string, name: string): string {
    return this.#byId.get(id) ?? this.#create(name);
  }

  #create(name: string): string {
    const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    const text = words.join('-').slice(0, 100);
    const base = /^[a-z]/.test(text) ? text : [this.#noun, ...(text ? [text] : [])].join('-');
    let handle = base;
    for (let number = 2; this.#taken.has(handle); number += 1) handle = `${base}-${number}`;
    this.#taken.add(handle);
    return handle;
  }
}
