import type { ReplyTo } from '../../../control/table/client.ts';

/** A mail as the list shows it. */
export type MailSummary = ReplyTo<'searchMail'>['messages'][number];

/** A mail with everything that is known about it. */
export type MailDetails = ReplyTo<'getMail'>;

/** Returns the name of a person such as `Dana <dana@customer.test>`, or the address if there is no name. */
export function nameOf(person: string): string {
  return person.replace(/<[^<>]+>\s*$/, '').trim() || person;
}

/** Returns the address of a person such as `Dana <dana@customer.test>`, in lower case. */
export function bareAddress(person: string): string {
  return (/<([^<>]+)>\s*$/.exec(person)?.[1] ?? person).trim().toLowerCase();
}
