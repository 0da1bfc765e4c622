import punycode from 'punycode.js';
import { foldAddress, MAX_DOMAIN_LENGTH } from '../../basics/domain-name.ts';
import { withoutTag } from '../../contract/addresses/email-address.ts';
import { flattenAddresses, readAddressList } from '../../contract/addresses/email-address-list.ts';
import type { BehaviourValues } from '../../contract/behaviours.ts';
import type { JournalMail } from '../journal/journal-entry.ts';

/** What the behaviour `sending.plus-tags` says of an address and the same address with a tag. */
export type PlusTags = BehaviourValues['sending.plus-tags'];

/** Returns the bare address in its parts; without a domain, if the text is no address. */
function splitAddress(text: string): { readonly local: string; readonly domain: string } {
  const [first] = flattenAddresses(readAddressList(text));
  if (!first || (first.local === '' && first.domain === '')) return { local: text.trim(), domain: '' };
  return { local: first.local, domain: first.domain.replace(/\.$/, '') };
}

/**
 * Returns the bare address in the form in which addresses are compared: without its display name, its comments and the
 * quotation marks around its local part, in lower case, and with its domain in the ASCII form (IDNA).
 */
function bareAddressOf(text: string): string {
  const { local, domain } = splitAddress(text);
  return domain === '' ? foldAddress(local) : foldAddress(`${local}@${domain}`);
}

/**
 * Returns the person to whom an address belongs, bare or in display form, as a text that is equal for two addresses of
 * the same person: the bare address in the form in which addresses are compared, without its plus tag unless `plusTags`
 * says that each tag is an address of its own.
 */
export function personOf(address: string, plusTags: PlusTags = 'delivered'): string {
  const bare = bareAddressOf(address);
  return plusTags === 'exact' || bare.startsWith('+') ? bare : withoutTag(bare);
}

/** Returns whether two addresses, bare or in display form, belong to the same person; see {@link personOf}. */
export function isSamePerson(one: string, other: string, plusTags?: PlusTags): boolean {
  return personOf(one, plusTags) === personOf(other, plusTags);
}

/**
 * Returns the forms of an address that a pattern may describe: the bare address as it is written and in the form in which
 * addresses are compared, with its domain in both forms of IDNA. No form has the display name, because everybody can give
 * themselves any name.
 */
export function addressFormsOf(address: string): string[] {
  const { local, domain } = splitAddress(address);
  const written = domain === '' ? local : `${local}@${domain}`;
  const bare = bareAddressOf(address);
  const at = bare.lastIndexOf('@');
  const host = bare.slice(at + 1);
  // For a long label, `toUnicode` takes quadratic time.
  const international = host.length > MAX_DOMAIN_LENGTH ? host : punycode.toUnicode(host);
  return [...new Set([written, bare, bare.slice(0, at + 1) + international])];
}

/** A mail of the journal, as far as it says who gets it. */
type RoutedMail = Pick<JournalMail, 'routes'> & { readonly mail: Pick<JournalMail['mail'], 'to' | 'cc' | 'bcc'> };

/** The addresses to which a mail or a draft goes, as they are written. `all` are those of the other three. */
export type Recipients = Readonly<Record<'all' | 'to' | 'cc' | 'bcc', readonly string[]>>;

/**
 * Returns the addresses to which a mail of the journal goes, those in Bcc included, each as its header writes it. The
 * envelope decides: a recipient that only the header of a submitted mail names did not get it, and is left out.
 */
export function listRecipients({ mail, routes }: RoutedMail): Recipients {
  const envelope = routes && new Set(routes.map(({ recipient }) => bareAddressOf(recipient)));
  const inEnvelope = (addresses: readonly string[]) =>
    addresses.filter((address) => envelope?.has(bareAddressOf(address)) ?? true);
  const { to, cc, bcc } = { to: inEnvelope(mail.to), cc: inEnvelope(mail.cc), bcc: inEnvelope(mail.bcc) };
  const listed = new Set([...to, ...cc, ...bcc].map(bareAddressOf));
  const unlisted = [...(envelope ?? [])].filter((address) => !listed.has(address));
  return { all: [...to, ...cc, ...bcc, ...unlisted], to, cc, bcc: [...bcc, ...unlisted] };
}

/** Returns the persons to whom a mail of the journal goes, those in Bcc included; see {@link listRecipients}. */
export function recipientsOf(mail: RoutedMail, plusTags?: PlusTags): string[] {
  return [...new Set(listRecipients(mail).all.map((address) => personOf(address, plusTags)))];
}
