import { toJsonPath } from './json-path.ts';

/** One thing that is wrong with a fixture. */
export interface FixtureProblem {
  /** Where, as a JSON path such as `$.tenants.acme.webhooks.audit.url`. */
  readonly path: string;
  /** What is wrong there and what would be right. */
  readonly message: string;
}

/** A value that may be claimed once within its scope. */
interface Claim {
  readonly what: string;
  readonly scope: string;
  readonly value: unknown;
  readonly path: readonly PropertyKey[];
}

/** A part of a fixture that may still be anything: shapes are the schema's business. */
interface Part {
  readonly name: string;
  readonly path: readonly PropertyKey[];
  get(field: string): unknown;
  children(field: string): Part[];
}

/**
 * Finds what is wrong between the parts of a fixture: things that must be unique and are not, and references that
 * lead nowhere. It takes a fixture of any shape, so that these problems are told together with those of shape.
 */
export function findReferenceProblems(fixture: unknown): FixtureProblem[] {
  const tenants = toPart(fixture, []).children('tenants');
  return [
    ...tenants.flatMap(findHandleProblems),
    ...findRepeatedClaims(claimsOf(toPart(fixture, []), tenants)),
    ...tenants.flatMap(findTenantProblems),
  ];
}

function toPart(value: unknown, path: readonly PropertyKey[]): Part {
  const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  return {
    name: String(path.at(-1)),
    path,
    get: (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined),
    children(field) {
      const parent = Object.hasOwn(fields, field) ? fields[field] : undefined;
      if (typeof parent !== 'object' || parent === null) return [];
      return Object.entries(parent).map(([name, child]) =>
        toPart(child, [...path, field, Array.isArray(parent) ? Number(name) : name]),
      );
    },
  };
}

/** A schema does not even see the handle `__proto__`, which would be dropped with all that it holds. */
function findHandleProblems(tenant: Part): FixtureProblem[] {
  const workspaces = tenant.children('workspaces');
  const inboxes = workspaces.flatMap((workspace) => workspace.children('inboxes'));
  const named = [tenant, ...workspaces, ...inboxes, ...tenant.children('webhooks')];
  return named
    .filter(({ name }) => name === '__proto__')
    .map(({ path }) => ({ path: toJsonPath(path), message: 'must not be a handle' }));
}

function claimsOf(root: Part, tenants: Part[]): Claim[] {
  return [...keyClaim(root, 'operator'), ...tenants.flatMap(tenantClaims)];
}

function tenantClaims(tenant: Part): Claim[] {
  const scope = `tenant ${tenant.name}`;
  const workspaces = tenant.children('workspaces');
  return [
    ...idClaims([tenant, ...workspaces, ...tenant.children('webhooks')]),
    ...keyClaim(tenant, 'key'),
    ...workspaces.flatMap((workspace) => [
      { what: 'slug', scope, value: workspace.get('slug'), path: [...workspace.path, 'slug'] },
      ...keyClaim(workspace, 'key'),
      ...workspace.children('inboxes').flatMap((inbox) => inboxClaims(inbox, scope)),
    ]),
  ];
}

function inboxClaims(inbox: Part, scope: string): Claim[] {
  const [username, domain] = [inbox.get('username'), inbox.get('domain')];
  const address = typeof username === 'string' && typeof domain === 'string' ? `${username}@${domain}` : undefined;
  return [
    ...idClaims([inbox, ...inbox.children('messages')]),
    ...keyClaim(inbox, 'key'),
    { what: 'inbox handle', scope, value: inbox.name, path: inbox.path },
    { what: 'address', scope: '', value: address, path: [...inbox.path, 'username'] },
  ];
}

function idClaims(parts: Part[]): Claim[] {
  return parts.map((part) => ({ what: 'id', scope: '', value: part.get('id'), path: [...part.path, 'id'] }));
}

function keyClaim(owner: Part, field: string): Claim[] {
  const key = toPart(owner.get(field), [...owner.path, field]);
  return [...idClaims([key]), { what: 'key', scope: '', value: key.get('key'), path: [...key.path, 'key'] }];
}

function findRepeatedClaims(claims: Claim[]): FixtureProblem[] {
  const first = new Map<string, string>();
  return claims.flatMap(({ what, scope, value, path }) => {
    if (typeof value !== 'string') return [];
    const claim = `${what}\n${scope}\n${what === 'id' || what === 'address' ? value.toLowerCase() : value}`;
    const taken = first.get(claim);
    if (taken === undefined) first.set(claim, toJsonPath(path));
    return taken === undefined
      ? []
      : [{ path: toJsonPath(path), message: `has the ${what} of ${taken}; each must have its own` }];
  });
}

function findTenantProblems(tenant: Part): FixtureProblem[] {
  return [
    ...findDefaultWorkspaceProblems(tenant),
    ...tenant.children('webhooks').flatMap((webhook) => findScopeProblems(webhook, tenant)),
  ];
}

function findDefaultWorkspaceProblems(tenant: Part): FixtureProblem[] {
  const workspaces = tenant.children('workspaces');
  const defaults = workspaces.filter((workspace) => workspace.get('isDefault') === true).length;
  if (workspaces.length === 0 || defaults === 1) return [];
  const path = toJsonPath([...tenant.path, 'workspaces']);
  return [{ path, message: `must have exactly one workspace with "isDefault": true, not ${defaults}` }];
}

function findScopeProblems(webhook: Part, tenant: Part): FixtureProblem[] {
  const workspace = webhook.get('workspace');
  const handles = tenant.children('workspaces').map(({ name }) => name);
  if (typeof workspace !== 'string' || handles.includes(workspace)) return [];
  const path = toJsonPath([...webhook.path, 'workspace']);
  return [{ path, message: `names no workspace of this tenant; it has: ${handles.join(', ') || 'none'}` }];
}
