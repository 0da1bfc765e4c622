import { isDeepStrictEqual } from 'node:util';
import { OPERATIONS } from '../contract/operations.ts';
import { VerifyError, type VerifySession } from './verify-session.ts';

/** The operations that count what a whole tenant has. */
export const COUNTING = ['countFolders', 'getMetrics'] as const;

/** The changes of the numbers in a reply, by the path of the number. Numbers that stay the same are left out. */
type Changes = Readonly<Record<string, number>>;

/** For each tenant: by how much its counts change if one of the tenants gets something. */
type CountsOf = Readonly<Record<string, Changes>>;

/**
 * Gives each tenant two inboxes, a domain and a mail, and returns by how much the counts of each tenant change. Does so
 * twice, because others may change the counts of a tenant at the same time.
 *
 * @throws {VerifyError} if the counts change in two ways.
 */
export async function observeCounts(s: VerifySession): Promise<Readonly<Record<(typeof COUNTING)[number], CountsOf>>> {
  const [first, second] = [await observeRound(s), await observeRound(s)];
  if (isDeepStrictEqual(first, second)) return first;
  throw new VerifyError('the counts of a tenant changed at the same time by something else');
}

async function observeRound(s: VerifySession) {
  const { key, secondKey } = s.target;
  const tenants = [
    ['the tenant', key],
    ['the other tenant', secondKey],
  ] as const;
  const readAll = async (id: (typeof COUNTING)[number]) => {
    const counts = tenants.map(async ([name, text]) => {
      if (text === undefined) return [name, {}] as const;
      return [name, numbersIn(await s.read(OPERATIONS[id].path, { key: text }))] as const;
    });
    return Object.fromEntries(await Promise.all(counts));
  };
  const changes = { countFolders: {} as Record<string, Changes>, getMetrics: {} as Record<string, Changes> };
  for (const [name, text] of tenants) {
    if (text === undefined) continue;
    const before = { countFolders: await readAll('countFolders'), getMetrics: await readAll('getMetrics') };
    await fill(s, text);
    for (const id of COUNTING) {
      const after = await readAll(id);
      for (const [owner] of tenants) {
        changes[id][`${owner} after a mail in ${name}`] = difference(before[id][owner] ?? {}, after[owner] ?? {});
      }
    }
  }
  return changes;
}

/** Gives a tenant two inboxes, a domain, and a mail between the inboxes. */
async function fill(s: VerifySession, key: string): Promise<void> {
  const { id: workspaceId } = await s.add('/v1/workspaces', { name: s.newName() }, { key });
  const [from, to] = [await s.createInbox({ workspaceId }, key), await s.createInbox({ workspaceId }, key)];
  await s.add('/v1/domains', { domain: `${s.newName()}.example`, workspaceId }, { key });
  await s.send(from, to);
  await s.waitForMessages(to);
}

/** The numbers in a value of any depth, by their paths. */
function numbersIn(value: unknown, path = ''): Changes {
  if (typeof value === 'number') return { [path]: value };
  if (typeof value !== 'object' || value === null) return {};
  const parts = Object.entries(value).map(([name, each]) => numbersIn(each, path === '' ? name : `${path}.${name}`));
  return Object.assign({}, ...parts);
}

function difference(before: Changes, after: Changes): Changes {
  const changes = Object.entries(after).map(([path, count]) => [path, count - (before[path] ?? 0)] as const);
  return Object.fromEntries(changes.filter(([, change]) => change !== 0));
}
