import { type Clients, INBOXES } from './clients.ts';
import type { Value } from './facts.ts';
import { mailFact } from './loads.ts';

// biome-ignore lint/suspicious/noExplicitAny: rows of every kind, as an export has them.
type Row = Readonly<Record<string, any>>;

const isOurs = (text: unknown) => String(text).startsWith('soak-');

/** Reads everything that the emulator has, under the names of the facts. Also sets the ids of what it finds. */
export async function readFound(clients: Clients, ids: Map<string, string>): Promise<Map<string, Value>> {
  const { control } = clients;
  const found = new Map<string, Value>();
  const rows = await readRows(control);
  const handles = new Map(INBOXES.map((handle) => [clients.inboxPath(handle).split('/').at(-1), handle]));
  for (const { id, inboxId, direction, subject, isStarred, deletedAt } of rows('messages')) {
    if (!isOurs(subject)) continue;
    const fact = mailFact(String(handles.get(inboxId)), direction, subject);
    const state = isStarred ? 'starred' : 'plain';
    found.set(fact, deletedAt ? 'trash' : state);
    ids.set(fact, id);
  }
  for (const { id, inboxId, subject, plainBody } of rows('drafts')) {
    if (!isOurs(subject)) continue;
    found.set(`draft ${handles.get(inboxId)} ${subject}`, plainBody);
    ids.set(`draft ${handles.get(inboxId)} ${subject}`, id);
  }
  for (const { id, username, displayName, deletedAt } of rows('inboxes')) {
    if (!isOurs(username) || deletedAt) continue;
    found.set(`inbox ${username}`, displayName);
    ids.set(`inbox ${username}`, id);
  }
  for (const { id, name } of rows('apiKeys')) {
    if (!isOurs(name)) continue;
    found.set(`key ${name}`, 'there');
    ids.set(`key ${name}`, id);
  }
  for (const { id, url, isActive } of rows('webhooks')) {
    const name = new URL(url).pathname.slice(1);
    if (!isOurs(name)) continue;
    found.set(`webhook ${name}`, isActive ? 'on' : 'off');
    ids.set(`webhook ${name}`, id);
  }
  const { now } = await control.getClock();
  const ahead = new Date(now).getTime() - Date.now();
  if (ahead > 30_000) found.set('clock', ahead);
  const { sandboxes } = await control.listSandboxes();
  for (const { id, name, domain } of sandboxes) {
    found.set(`sandbox ${name}`, 'there');
    ids.set(`sandbox ${name}`, id);
    ids.set(`domain ${name}`, domain);
    const inside = await readRows(control, id);
    for (const { subject } of inside('messages')) {
      if (isOurs(subject)) found.set(`in-sandbox ${name} mail ${subject}`, 'there');
    }
    const { faults } = await control.listFaults({}, { sandbox: id });
    for (const { after } of faults as readonly Row[]) found.set(`in-sandbox ${name} fault ${after}`, 'there');
  }
  return found;
}

/** Returns a function that returns the rows of a kind. */
async function readRows(control: Clients['control'], sandbox?: string): Promise<(kind: string) => readonly Row[]> {
  const { tenants } = await control.exportState({}, { sandbox });
  const { rows } = (tenants as Row).acme;
  return (kind) => rows[kind] ?? [];
}
