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
 * @throws {VerifyError} if the counts change in two ways, or if another run is in a tenant at the same time: it does the
 * same, so that the counts could change twice in the same wrong way.
 */
export async function observeCounts(s: VerifySession): Promise<Readonly<Record<(typeof COUNTING)[number], CountsOf>>> {
  const rounds: Awaited<ReturnType<typeof observeRound>>[] = [];
  await checkNoOtherRun(s);
  for (let round = 1; round <= 2; round += 1) {
    const before = await readCounts(s);
    if (!isDeepStrictEqual(before, await readCounts(s))) throw new VerifyError(CHANGED_BY_OTHERS);
    rounds.push(await observeRound(s));
  }
  await checkNoOtherRun(s);
  const [first, second] = rounds;
  if (first && isDeepStrictEqual(first, second)) return first;
  throw new VerifyError(CHANGED_BY_OTHERS);
}

const CHANGED_BY_OTHERS = 'the counts of a tenant changed at the same time by something else';

/** A run has a workspace with its id from its begin to its end, so that two runs at the same time see each other. */
async function checkNoOtherRun({ target, read, runId }: VerifySession): Promise<void> {
  for (const key of [target.key, target.secondKey]) {
    if (key === undefined) continue;
    const { workspaces } = await read('/v1/workspaces', { key });
    for (const { name } of workspaces) {
      const other = /^verify[ -](\w+)/.exec(String(name))?.[1];
      if (other === undefined || other === runId) continue;
      throw new VerifyError(
        `the workspace ${JSON.stringify(String(name).slice(0, 60))} is of another run of verify, which may change the counts at the same time`,
      );
    }
  }
}

/** The numbers that each tenant counts. */
async function readCounts({ target, read }: VerifySession) {
  const keys = [target.key, target.secondKey].filter((key) => key !== undefined);
  return await Promise.all(
    keys.flatMap((key) => COUNTING.map(async (id) => numbersIn(await read(OPERATIONS[id].path, { key })))),
  );
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
