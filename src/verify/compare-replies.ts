import type { Reply } from './verify-session.ts';

/** One thing in which a reply of the server differs from the reply of the emulator to the same request. */
export interface Difference {
  /** Where the replies differ: `status`, `content type`, or the path of a field, such as `webhooks[].secret`. */
  readonly at: string;
  readonly found: string;
  readonly emulator: string;
  /** The roles of the objects that only one of the two replies lists. */
  readonly isAboutItems?: true;
}

const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** The kinds of texts that the service chooses, so that they are different on each server. */
const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['id', ID],
  ['time', /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/],
  ['sa_ key', /^sa_[\w-]{10,}$/],
  ['tk_ key', /^tk_[\w-]{10,}$/],
  ['wk_ key', /^wk_[\w-]{10,}$/],
  ['ak_ key', /^ak_[\w-]{10,}$/],
  ['Message-ID', /^<[^<>\s@]{1,200}@[^<>\s@]{1,200}>$/],
];

/** The fields with secrets, whose form a service may choose. */
const SECRETS = ['secret', 'imapPassword', 'password'];

/** The fields whose text or number each service chooses for itself; only the type of these is compared. */
const OWN_VALUES = ['error', 'code', 'host', 'port', 'prefix', 'slug'];

/** The fields with a time that may change at any request. */
const CHANGING_TIMES = ['updatedAt', 'lastMessageAt', 'from', 'to', 'verifiedAt'];

/** The values in a record of DNS that each service chooses for itself. */
const OWN_DNS_VALUES = ['name', 'value', 'priority'];

function kindOf(text: string, field: string): string | undefined {
  if (SECRETS.includes(field)) return text === '' ? undefined : 'secret';
  return KINDS.find(([, pattern]) => pattern.test(text))?.[0];
}

/** What identifies an object in a list. */
export function identityOf(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const { id, threadId, domain, address, email } = item as Record<string, unknown>;
  const identity = [id, threadId, domain, address, email].find((value) => typeof value === 'string');
  return identity as string | undefined;
}

/**
 * The roles of the values that a service chooses: ids, keys, secrets and times. A value of the server and a value of
 * the emulator have the same role if both replies first showed them at the same place. From then on, wherever the
 * emulator shows its value, the server must show its own.
 */
export class Roles {
  readonly #toEmulator = new Map<string, string>();
  readonly #toServer = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #times = new Map<string, readonly [found: string, emulator: string]>();
  readonly #words: (readonly [found: string, emulator: string])[] = [];

  /** Says that two values have the same role, whose name is `name`. */
  bind(found: string, emulator: string, name: string): void {
    this.#toEmulator.set(found, emulator);
    this.#toServer.set(emulator, found);
    if (!this.#names.has(emulator)) this.#names.set(emulator, name);
  }

  /** Says that wherever texts of the emulator contain `emulator`, texts of the server contain `found`. */
  bindWord(found: string, emulator: string): void {
    if (found !== '' && found !== emulator) this.#words.push([found, emulator]);
  }

  /** Returns the value of the emulator that has the role of a value of the server. */
  emulatorValueOf = (found: string) => this.#toEmulator.get(found);

  isKnown = (emulator: string) => this.#toServer.has(emulator);

  nameOf = (emulator: string | undefined) => this.#names.get(emulator ?? '');

  /** Writes a text of the server with the words of the emulator. */
  translate(text: string): string {
    return this.#words.reduce((translated, [found, emulator]) => translated.replaceAll(found, emulator), text);
  }

  /** Compares two times of one field of one object: what stays the same on the emulator must stay the same. */
  isSameTime(place: string, found: string, emulator: string): boolean {
    const [firstFound, firstEmulator] = this.#times.get(place) ?? [];
    if (firstFound === undefined) this.#times.set(place, [found, emulator]);
    return firstFound === undefined || firstEmulator !== emulator || firstFound === found;
  }
}

/** How lists are compared. */
export interface Comparing {
  readonly roles: Roles;
  /** What the values are about that the replies show for the first time, for their names. */
  readonly origin: string;
  /** Whether a list may have items that this run has not created, which are then ignored. */
  readonly hasOthersItems?: boolean;
  /** The names of fields that are not compared, because what they count is not all from this run. */
  readonly ignored?: readonly string[];
}

/** Compares a reply of the server with a reply of the emulator. */
export function compareReplies(found: Reply, emulator: Reply, comparing: Comparing): Difference[] {
  if (found.status !== emulator.status) {
    return [{ at: 'status', found: String(found.status), emulator: String(emulator.status) }];
  }
  const [type, emulatorType] = [mediaTypeOf(found), mediaTypeOf(emulator)];
  if (type !== emulatorType && emulator.text !== '') {
    return [{ at: 'content type', found: type, emulator: emulatorType }];
  }
  if (emulatorType === 'message/rfc822') return compareMails(found.text, emulator.text, comparing.roles);
  if (emulatorType !== 'application/json') return compareTexts(found.text, emulator.text);
  return compareValues(found.body, emulator.body, comparing);
}

export const mediaTypeOf = ({ headers }: Reply) => headers.get('content-type')?.split(';')[0]?.trim() || 'none';

function compareTexts(found: string, emulator: string): Difference[] {
  if (found === emulator) return [];
  const size = (text: string) => `${text.length} characters`;
  return [{ at: 'body', found: `other ${size(found)}`, emulator: size(emulator) }];
}

/** Compares the subjects and the bodies of two mails. The other header fields are the service's own. */
function compareMails(found: string, emulator: string, roles: Roles): Difference[] {
  const partsOf = (mail: string) => {
    const text = roles.translate(mail.replaceAll('\r\n', '\n'));
    return [/^subject:\s*(.*)$/im.exec(text)?.[1] ?? 'none', text.slice(text.indexOf('\n\n')).trim()] as const;
  };
  const [[subject, body], [emulatorSubject, emulatorBody]] = [partsOf(found), partsOf(emulator)];
  if (subject !== emulatorSubject) return [{ at: 'Subject', found: 'another subject', emulator: emulatorSubject }];
  // A mail with parts has boundaries, which are the service's own.
  return emulatorBody.startsWith('--') ? [] : compareTexts(body, emulatorBody);
}

/** Compares any two values, such as the bodies of two replies. */
export function compareValues(found: unknown, emulator: unknown, comparing: Comparing): Difference[] {
  return new ValueComparison(comparing).compare(found, emulator, [], undefined);
}

/** Compares what an experiment observed of the server and of an emulator, each with the domain of its inboxes. */
export function compareObservations(
  [found, foundDomain]: readonly [unknown, string],
  [emulator, emulatorDomain]: readonly [unknown, string],
): Difference[] {
  const roles = new Roles();
  roles.bindWord(foundDomain, emulatorDomain);
  return compareValues(found, emulator, { roles, origin: 'the experiment' });
}

class ValueComparison {
  readonly #comparing: Comparing;

  constructor(comparing: Comparing) {
    this.#comparing = comparing;
  }

  compare(found: unknown, emulator: unknown, path: readonly string[], owner: string | undefined): Difference[] {
    const field = path.findLast((part) => part !== '[]') ?? '';
    if (this.#comparing.ignored?.includes(field)) return [];
    const isOfDns = path.includes('dnsRecords') || path.includes('records');
    const isOwn = OWN_VALUES.includes(field) || (isOfDns && OWN_DNS_VALUES.includes(field));
    if (typeof found !== typeof emulator || (found === null) !== (emulator === null)) {
      return isOwn && isOfDns ? [] : this.#differs(path, found, emulator);
    }
    if (isOwn && typeof found !== 'object') return found === '' ? this.#differs(path, found, emulator) : [];
    if (typeof found === 'string') return this.#compareTexts(found, emulator as string, path, owner);
    if (typeof found !== 'object' || found === null) {
      return found === emulator ? [] : this.#differs(path, found, emulator);
    }
    if (Array.isArray(found) !== Array.isArray(emulator)) return this.#differs(path, found, emulator);
    if (Array.isArray(found)) return this.#compareLists(found, emulator as unknown[], path, owner);
    return this.#compareObjects(found, emulator as object, path, owner);
  }

  #compareObjects(found: object, emulator: object, path: readonly string[], owner: string | undefined): Difference[] {
    const names = new Set([...Object.keys(emulator), ...Object.keys(found)]);
    const self = identityOf(emulator) ?? owner;
    return [...names].flatMap((name) => {
      const fieldOf = (object: object) => (object as Record<string, unknown>)[name];
      return this.compare(fieldOf(found), fieldOf(emulator), [...path, name], self);
    });
  }

  #compareTexts(found: string, emulator: string, path: readonly string[], owner: string | undefined): Difference[] {
    const { roles, origin } = this.#comparing;
    const field = path.findLast((part) => part !== '[]') ?? '';
    const kind = kindOf(emulator, field);
    if (kind === undefined) return roles.translate(found) === emulator ? [] : this.#differs(path, found, emulator);
    if (kindOf(found, field) !== kind) return this.#differs(path, found, emulator);
    if (kind === 'time') {
      const isSame = CHANGING_TIMES.includes(field) || roles.isSameTime(`${owner}.${field}`, found, emulator);
      return isSame
        ? []
        : [{ at: write(path), found: 'another time than before', emulator: 'the same time as before' }];
    }
    const role = roles.emulatorValueOf(found);
    if (role === undefined && !roles.isKnown(emulator)) {
      roles.bind(found, emulator, `the ${field} of ${origin}`);
      return [];
    }
    return role === emulator ? [] : this.#differs(path, found, emulator);
  }

  /**
   * Compares lists. Objects are compared with the object that has the same role, so that a missing object is one
   * difference. Objects without a known role are compared by their order.
   */
  #compareLists(
    found: unknown[],
    emulator: unknown[],
    path: readonly string[],
    owner: string | undefined,
  ): Difference[] {
    if (![...found, ...emulator].every(identityOf)) {
      if (found.length !== emulator.length) {
        return [{ at: write(path), found: `${found.length} items`, emulator: `${emulator.length} items` }];
      }
      return found.flatMap((item, index) => this.compare(item, emulator[index], [...path, '[]'], owner));
    }
    const { roles, hasOthersItems = false } = this.#comparing;
    const roleOfFound = (item: unknown) => {
      const identity = identityOf(item) ?? '';
      const name = roles.translate(identity);
      return roles.emulatorValueOf(identity) ?? (ID.test(identity) ? undefined : name);
    };
    const emulatorByRole = new Map(emulator.map((item) => [identityOf(item) ?? '', item]));
    const isKnown = (role: string) => roles.isKnown(role) || !ID.test(role);
    // What has no role yet is new in both lists, and gets its role here.
    const unknown = hasOthersItems ? [] : [...emulatorByRole].filter(([role]) => !isKnown(role));
    const foundByRole = new Map<string, unknown>();
    const differences: Difference[] = [];
    let extraCount = 0;
    for (const item of found) {
      const role = roleOfFound(item) ?? unknown.shift()?.[0];
      if (role === undefined) extraCount += hasOthersItems ? 0 : 1;
      else if (foundByRole.has(role)) differences.push(this.#item(path, `${this.#nameOf(role)} twice`, 'it once'));
      else foundByRole.set(role, item);
    }
    if (extraCount > 0) {
      const items = extraCount === 1 ? 'an item' : `${extraCount} items`;
      differences.push(this.#item(path, `${items} that the emulator does not show`, 'none of these'));
    }
    const isOfRun = (role: string) => !hasOthersItems || (roles.nameOf(role) !== undefined && isKnown(role));
    for (const [role, item] of emulatorByRole) {
      if (!foundByRole.has(role)) {
        if (isOfRun(role)) differences.push(this.#item(path, `${this.#nameOf(role)} is missing`, 'it is listed'));
      } else {
        differences.push(...this.compare(foundByRole.get(role), item, [...path, '[]'], role));
      }
    }
    for (const role of foundByRole.keys()) {
      if (emulatorByRole.has(role) || !isOfRun(role)) continue;
      differences.push(this.#item(path, `${this.#nameOf(role)}, which this key must not see here`, 'it is not listed'));
    }
    if (differences.length > 0) return differences;
    const both = [...emulatorByRole.keys()].filter((role) => foundByRole.has(role));
    const order = [...foundByRole.keys()].filter((role) => emulatorByRole.has(role));
    if (order.every((role, index) => role === both[index])) return [];
    return [{ at: `order of ${write(path)}`, found: 'another order', emulator: 'the order of the found behaviours' }];
  }

  #nameOf = (role: string) => this.#comparing.roles.nameOf(role) ?? 'an item';

  #item = (path: readonly string[], found: string, emulator: string): Difference => ({
    at: write(path),
    found,
    emulator,
    isAboutItems: true,
  });

  #differs(path: readonly string[], found: unknown, emulator: unknown): Difference[] {
    const { roles } = this.#comparing;
    const field = path.findLast((part) => part !== '[]') ?? '';
    const show = (value: unknown, role: (text: string) => string | undefined) => {
      if (value === undefined) return 'no such field';
      if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
      if (typeof value !== 'string') return String(value);
      const kind = kindOf(value, field);
      if (kind !== undefined) return roles.nameOf(role(value)) ?? `another ${kind}`;
      // A text that the run did not choose may be somebody's data, so it is not printed.
      return isPrintable(value) ? JSON.stringify(value) : `another text of ${value.length} characters`;
    };
    const shown = show(found, roles.emulatorValueOf);
    return [{ at: write(path), found: shown, emulator: show(emulator, (text) => text) }];
  }
}

/** Whether a text is a word of the service or a text of this run. */
const isPrintable = (text: string) => /^[\w-]{1,24}$/.test(text) || /\bverify\b/i.test(text);

/** Writes the path of a field, such as `webhooks[].secret`. */
const write = (path: readonly string[]) => path.join('.').replaceAll('.[]', '[]') || 'body';
