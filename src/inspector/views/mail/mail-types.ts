import type { ControlClient, ReplyTo } from '../../../control/table/client.ts';

/** A mail in one line of the list. */
export type MailLine = ReplyTo<'searchMail'>['messages'][number];

/** A mail with everything that is known about it. */
export type MailDetails = ReplyTo<'getMail'>;

/** Returns the name in a display form such as `Dana <dana@customer.test>`, or else the address. */
export function nameOf(person: string): string {
  return person.replace(/<[^<>]+>\s*$/, '').trim() || person;
}

/** Returns the address of a display form such as `Dana <dana@customer.test>`, in lower case. */
export function bareAddress(person: string): string {
  return (/<([^<>]+)>\s*$/.exec(person)?.[1] ?? person).trim().toLowerCase();
}

/** A tenant or a sandbox with its inboxes. */
export type Tenant = ReplyTo<'listTenants'>['tenants'][number];

/** Resolves with the tenants and the sandboxes; a sandbox has its own name, if it has one, instead of its tenant's. */
export async function loadTenants(client: ControlClient): Promise<Tenant[]> {
  const [{ tenants }, { sandboxes }] = await Promise.all([client.listTenants(), client.listSandboxes()]);
  const names = new Map(sandboxes.map(({ id, name }) => [id, name]));
  return tenants.map((tenant) => ({ ...tenant, name: names.get(tenant.id) ?? tenant.name }));
}
