import { plural } from '../basics/text.ts';
import { ApiError } from '../contract/errors.ts';
import { parseEml } from '../service/mail/incoming/parse-eml.ts';
import type { Reply } from './verify-session.ts';

/** What a difference is about, besides the value of a field. */
export type DifferenceKind =
  | 'status'
  /** The server does not list a thing, or lists it less often. */
  | 'missing'
  /** The server lists a thing that the emulator does not list. */
  | 'extra'
  | 'order'
  /** A field that the emulator does not have. */
  | 'extra field'
  /** A secret, an id of somebody else, or the inside of the service is shown. */
  | 'leak';

/** One thing in which a reply of the server differs from the reply of the emulator to the same request. */
export interface Difference {
  /** Where the replies differ: `status`, `content type`, or the path of a field, such as `webhooks[].secret`. */
  readonly at: string;
  readonly found: string;
  readonly emulator: string;
  readonly kind?: DifferenceKind | undefined;
  /** The object in which they differ, by its identity on the emulator. */
  readonly owner?: string | undefined;
}

/** The field that a difference is about: the last name in its path. */
export const fieldOf = ({ at }: Difference) => normaliseField(at.split(/[^\w-]/).findLast((step) => step !== '') ?? at);

/** The name of a field in the form in which it is compared. */
export const normaliseField = (name: string) => name.replaceAll('-', '').toLowerCase();

const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

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

/** The fields with a time that changes with the object. When the emulator changes it, the server must do so too. */
const CHANGING_TIMES = ['updatedAt', 'lastMessageAt', 'verifiedAt'];

/** The fields with a time that follows from the time of the request, and not from an object. */
const TIMES_OF_REQUEST = ['from', 'to'];

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
  // A domain has an id too, but its paths have its name. An inbox has an address, and its domain is that of others too.
  const nameOfDomain = email === undefined && address === undefined ? domain : undefined;
  const identity = [nameOfDomain, id, threadId, address, email].find((value) => typeof value === 'string');
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
    this.describe(emulator, name);
  }

  /** Says what is printed in place of a value of the emulator, if nothing was said before. */
  describe(emulator: string, name: string): void {
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

  /** Returns the two times that one field of one object had before. The first ones stay, if the field must not change. */
  timesBefore(place: string, found: string, emulator: string, mayChange: boolean) {
    const before = this.#times.get(place);
    if (before === undefined || mayChange) this.#times.set(place, [found, emulator]);
    return before;
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
  /** Whether a list may have any order. */
  readonly ignoresOrder?: boolean;
  /** Called with each time that both replies show for the first time. */
  readonly onNewTime?: ((time: NewTime) => void) | undefined;
}

/** A time of the server and of the emulator, in the same field of the same object. */
export interface NewTime {
  readonly at: string;
  readonly owner: string | undefined;
  readonly found: string;
  readonly emulator: string;
}

/** Compares a reply of the server with a reply of the emulator. */
export function compareReplies(found: Reply, emulator: Reply, comparing: Comparing): Difference[] {
  if (found.status !== emulator.status) {
    return [{ at: 'status', found: String(found.status), emulator: String(emulator.status), kind: 'status' }];
  }
  const inHeaders = compareHeaders(found, emulator);
  if (inHeaders.some(({ at }) => at === 'content type')) return inHeaders;
  return [...inHeaders, ...compareBodies(found, emulator, comparing)];
}

function compareBodies(found: Reply, emulator: Reply, comparing: Comparing): Difference[] {
  const type = mediaTypeOf(emulator);
  if (type === 'message/rfc822') return compareMails(found.text, emulator.text, comparing);
  if (type !== 'application/json') return compareTexts(found.text, emulator.text);
  return compareValues(found.body, emulator.body, comparing);
}

export const mediaTypeOf = ({ headers }: Reply) => headers.get('content-type')?.split(';')[0]?.trim() || 'none';

/** Compares what clients read of the headers. Any other header is the service's own. */
function compareHeaders(found: Reply, emulator: Reply): Difference[] {
  const [type, emulatorType] = [mediaTypeOf(found), mediaTypeOf(emulator)];
  if (type !== emulatorType && emulator.text !== '') {
    return [{ at: 'content type', found: type, emulator: emulatorType }];
  }
  const differences: Difference[] = [];
  const charset = /charset="?([\w-]+)/i.exec(found.headers.get('content-type') ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  if (type === 'application/json' && charset !== 'utf-8') {
    differences.push({ at: 'charset', found: charset, emulator: 'utf-8, the only one that JSON has' });
  }
  if (found.text.startsWith('\uFEFF')) {
    differences.push({ at: 'body', found: 'a byte order mark before the text', emulator: 'no byte order mark' });
  }
  const allowed = emulator.headers.get('allow');
  const methods = (text: string | null) => {
    const names = (text ?? 'no header').split(',').map((name) => name.trim());
    return names.toSorted().join(', ');
  };
  if (allowed !== null && methods(found.headers.get('allow')) !== methods(allowed)) {
    differences.push({ at: 'Allow', found: methods(found.headers.get('allow')), emulator: methods(allowed) });
  }
  const origin = 'access-control-allow-origin';
  if (found.headers.has(origin) && !emulator.headers.has(origin)) {
    const seen = 'pages of other origins may read the reply';
    differences.push({ at: origin, found: seen, emulator: 'no such header' });
  }
  return differences;
}

function compareTexts(found: string, emulator: string): Difference[] {
  if (found === emulator) return [];
  const size = (text: string) => `${text.length} characters`;
  return [{ at: 'body', found: `other ${size(found)}`, emulator: size(emulator) }];
}

/**
 * Compares what the emulator reads in two mails: the addresses, the subject, the texts and the files, however these are
 * encoded, and the types of the parts.
 */
function compareMails(found: string, emulator: string, comparing: Comparing): Difference[] {
  const [mail, emulatorMail] = [readMail(found), readMail(emulator)];
  if (mail && emulatorMail) return compareValues(mail, emulatorMail, comparing);
  return mail || !emulatorMail ? [] : [{ at: 'body', found: 'no mail that can be read', emulator: 'a mail' }];
}

/** Reads a mail; undefined if it cannot be read. */
function readMail(text: string): object | undefined {
  try {
    const { mail, bcc } = parseEml(new TextEncoder().encode(text), '');
    const types = Array.from(text.matchAll(/^content-type: *([^\s;]+)/gim), ([, type = '']) => type.toLowerCase());
    return { ...mail, bcc, contentTypes: types.join(', ') };
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
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
      return isOwn && isOfDns ? [] : this.#differs(path, found, emulator, owner);
    }
    if (isOwn && typeof found !== 'object') return found === '' ? this.#differs(path, found, emulator, owner) : [];
    if (typeof found === 'string') return this.#compareTexts(found, emulator as string, path, owner);
    if (typeof found !== 'object' || found === null) {
      return found === emulator ? [] : this.#differs(path, found, emulator, owner);
    }
    if (Array.isArray(found) !== Array.isArray(emulator)) return this.#differs(path, found, emulator, owner);
    if (Array.isArray(found)) return this.#compareLists(found, emulator as unknown[], path, owner);
    return this.#compareObjects(found, emulator as object, path, owner);
  }

  #compareObjects(found: object, emulator: object, path: readonly string[], owner: string | undefined): Difference[] {
    const names = new Set([...Object.keys(emulator), ...Object.keys(found)]);
    const self = identityOf(emulator) ?? owner;
    const differences = [...names].flatMap((name) => {
      const valueIn = (object: object) => (object as Record<string, unknown>)[name];
      return this.compare(valueIn(found), valueIn(emulator), [...path, name], self);
    });
    const [created, updated] = [found, found].map((object, index) => {
      const value = (object as Record<string, unknown>)[index === 0 ? 'createdAt' : 'updatedAt'];
      return typeof value === 'string' ? Date.parse(value) : Number.NaN;
    });
    if (Number(updated) < Number(created)) {
      const at = write([...path, 'updatedAt']);
      differences.push({ at, found: 'a time before createdAt', emulator: 'no time before createdAt', owner: self });
    }
    return differences;
  }

  #compareTexts(found: string, emulator: string, path: readonly string[], owner: string | undefined): Difference[] {
    const { roles, origin } = this.#comparing;
    const field = path.findLast((part) => part !== '[]') ?? '';
    const kind = kindOf(emulator, field);
    const differs = () => this.#differs(path, found, emulator, owner);
    if (kind === undefined) return roles.translate(found) === emulator ? [] : differs();
    if (kindOf(found, field) !== kind) return differs();
    if (kind === 'time') return this.#compareTimes(found, emulator, path, owner);
    const role = roles.emulatorValueOf(found);
    if (role === undefined && !roles.isKnown(emulator)) {
      roles.bind(found, emulator, `the ${field} of ${origin}`);
      return [];
    }
    return role === emulator ? [] : differs();
  }

  /** Compares when two times change: their values are different on each machine. */
  #compareTimes(found: string, emulator: string, path: readonly string[], owner: string | undefined): Difference[] {
    const field = path.findLast((part) => part !== '[]') ?? '';
    if (TIMES_OF_REQUEST.includes(field)) return [];
    const mayChange = CHANGING_TIMES.includes(field);
    const last = this.#comparing.roles.timesBefore(`${owner}.${field}`, found, emulator, mayChange);
    if (last === undefined) {
      this.#comparing.onNewTime?.({ at: write(path), owner, found, emulator });
      return [];
    }
    const [hasChanged, emulatorHasChanged] = [last[0] !== found, last[1] !== emulator];
    // Two changes within a millisecond of the emulator have the same time.
    if (hasChanged === emulatorHasChanged || (hasChanged && mayChange)) return [];
    const show = (isChanged: boolean) => (isChanged ? 'another time than before' : 'the same time as before');
    return [{ at: write(path), found: show(hasChanged), emulator: show(emulatorHasChanged), owner }];
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
        return [
          { at: write(path), found: plural(found.length, 'item'), emulator: plural(emulator.length, 'item'), owner },
        ];
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
      const role = roleOfFound(item) ?? takeSimilar(unknown, item, roles);
      if (role === undefined) extraCount += hasOthersItems ? 0 : 1;
      else if (foundByRole.has(role))
        differences.push(this.#item(path, `${this.#nameOf(role)} twice`, 'it once', 'extra', role));
      else foundByRole.set(role, item);
    }
    if (extraCount > 0) {
      const items = extraCount === 1 ? 'an item' : `${extraCount} items`;
      differences.push(this.#item(path, `${items} that the emulator does not show`, 'none of these', 'extra'));
    }
    const isOfRun = (role: string) => !hasOthersItems || (roles.nameOf(role) !== undefined && isKnown(role));
    for (const [role, item] of emulatorByRole) {
      if (!foundByRole.has(role)) {
        if (isOfRun(role))
          differences.push(this.#item(path, `${this.#nameOf(role)} is missing`, 'it is listed', 'missing', role));
      } else {
        differences.push(...this.compare(foundByRole.get(role), item, [...path, '[]'], role));
      }
    }
    for (const role of foundByRole.keys()) {
      if (emulatorByRole.has(role) || !isOfRun(role)) continue;
      const shown = `${this.#nameOf(role)}, which this key must not see here`;
      differences.push(this.#item(path, shown, 'it is not listed', 'extra', role));
    }
    if (differences.length > 0 || this.#comparing.ignoresOrder) return differences;
    const both = [...emulatorByRole.keys()].filter((role) => foundByRole.has(role));
    const order = [...foundByRole.keys()].filter((role) => emulatorByRole.has(role));
    if (order.every((role, index) => role === both[index])) return [];
    const at = `order of ${write(path)}`;
    return [{ at, found: 'another order', emulator: 'the order of the found behaviours', kind: 'order' }];
  }

  #nameOf = (role: string) => this.#comparing.roles.nameOf(role) ?? 'an item';

  #item = (
    path: readonly string[],
    found: string,
    emulator: string,
    kind: DifferenceKind,
    owner?: string,
  ): Difference => ({ at: write(path), found, emulator, kind, owner });

  #differs(path: readonly string[], found: unknown, emulator: unknown, owner: string | undefined): Difference[] {
    const { roles } = this.#comparing;
    const field = path.findLast((part) => part !== '[]') ?? '';
    const show = (value: unknown, role: (text: string) => string | undefined) => {
      if (value === undefined) return 'no such field';
      if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
      if (typeof value !== 'string') return String(value);
      const kind = kindOf(value, field);
      if (kind !== undefined) return roles.nameOf(role(value)) ?? `another ${kind}`;
      // A text that the run did not choose may be somebody's data, so it is not printed.
      return isPrintable(value) ? JSON.stringify(value) : `a text of ${value.length} characters that is not shown here`;
    };
    const kind = emulator === undefined ? 'extra field' : undefined;
    const [shown, expected] = [show(found, roles.emulatorValueOf), show(emulator, (text) => text)];
    return [{ at: write(path), found: shown, emulator: expected, kind, owner }];
  }
}

/** The fields by which new things of two lists are told apart, besides their order. */
const TELLING_FIELDS = ['direction', 'subject', 'name', 'username', 'email', 'from'];

/** Takes the first new item of the emulator that is like an item of the server, and returns its role. */
function takeSimilar(unknown: [role: string, item: unknown][], found: unknown, roles: Roles): string | undefined {
  const tell = (item: unknown, translate: (text: string) => string) =>
    TELLING_FIELDS.map((name) => (item as Record<string, unknown>)[name])
      .map((value) => (typeof value === 'string' ? translate(value) : ''))
      .join('\n');
  const wanted = tell(found, (text) => roles.translate(text));
  const index = unknown.findIndex(([, item]) => tell(item, (text) => text) === wanted);
  return index < 0 ? undefined : unknown.splice(index, 1)[0]?.[0];
}

/** Whether a text is a word of the service or a text of this run. */
const isPrintable = (text: string) => /^[\w-]{1,24}$/.test(text) || /\bverify\b/i.test(text);

/** Writes the path of a field, such as `webhooks[].secret`. */
const write = (path: readonly string[]) => path.join('.').replaceAll('.[]', '[]') || 'body';
