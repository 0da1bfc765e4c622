import { plural } from '../basics/text.ts';
import { OPERATIONS, type OperationId } from '../contract/operations.ts';
import {
  attributeDifferences,
  type Compared,
  creatorsOf,
  type FoundDifference,
  isCount,
  mentionedIn,
  nameOfStatement,
  readKey,
  SENDING,
  type Statement,
  WHOLE,
} from './attribute-differences.ts';
import {
  compareReplies,
  compareValues,
  type Difference,
  fieldOf,
  identityOf,
  type NewTime,
  Roles,
} from './compare-replies.ts';
import { findLeaks } from './find-leaks.ts';
import { type Finding, followsText, originOfFinding } from './finding.ts';
import { OTHER_TENANT, TENANT } from './operation-sequence.ts';
import type { Aspect, RecordedRequest, Recording } from './recording.ts';
import { NOT_REACHED, type Reason } from './verify-session.ts';

/** What the requests of each aspect check. */
const STATED: Readonly<Record<Aspect, string>> = {
  reply: 'the reply has the documented status, form and values',
  effect: 'it changes what it must change, and nothing else, in everything that shows it',
  items: 'each key of the run sees exactly what it may see, with all its fields',
  input: 'it accepts and refuses the same values of its fields, at their limits too',
  isolation: 'a key of another tenant, workspace or inbox cannot reach the resource',
  tiers: 'only keys of the documented tiers may call the operation',
  'old key': 'a rotated key is refused by every operation, at once and after 5 s',
  'key forms': 'a key that is shortened, longer, in other letters or in the query is refused',
};

/** A finding about an operation. */
export type OperationFinding = Finding & { readonly operation: OperationId };

/** Compares the replies of the server and of an emulator to the same sequence, and finds the causes of differences. */
export function findInOperations(server: Recording, emulator: Recording, stopReason?: Reason): OperationFinding[] {
  const compared = compareRequests(server, emulator, stopReason);
  const found = findingsOf(compared);
  return [...found, ...compareNotes(server, emulator, createRoles(server, emulator), found)];
}

/** Returns one finding for each statement, with the causes of the differences. */
export function findingsOf(compared: readonly Compared[]): OperationFinding[] {
  attributeDifferences(compared);
  return createFindings(compared);
}

function createRoles(server: Recording, emulator: Recording): Roles {
  const roles = new Roles();
  for (const [role, value] of emulator.roles) {
    const found = server.roles.get(role);
    if (emulator.printedRoles.has(role)) roles.describe(value, role);
    else if (found !== undefined) roles.bind(found, value, role);
  }
  roles.bindWord(server.session.domain, emulator.session.domain);
  roles.bindWord(server.session.receiverBase ?? '', emulator.session.receiverBase ?? '');
  return roles;
}

/** Why it cannot be told whether a list has too many items. */
const SENT_TWICE: Reason = {
  message: 'a request that creates something was sent twice, because its connection was closed once',
};

/** Returns whether a difference is that there is more of something: an item of a list, or a count. */
const isOfNumber = (difference: FoundDifference) =>
  difference.kind === 'extra' || (difference.kind !== 'status' && isCount(difference));

function compareRequests(server: Recording, emulator: Recording, stopReason?: Reason): Compared[] {
  const roles = createRoles(server, emulator);
  const previous = new Map<string, ReadonlySet<string>>();
  const shared = findSharedObjects(server, emulator, roles);
  const known = new Map([...server.roles].map(([role, value]) => [value.toLowerCase(), role]));
  const { key, secondKey, operatorKey } = server.session.target;
  known.set(key.toLowerCase(), TENANT);
  if (secondKey !== undefined) known.set(secondKey.toLowerCase(), OTHER_TENANT);
  if (operatorKey !== undefined) known.set(operatorKey.toLowerCase(), 'the operator key');
  // What was sent twice may have been created twice, so that each list may have an item more.
  const hasSentTwice = [...server.requests.values()].some(
    ({ operation, replyToSecond }) => replyToSecond !== undefined && OPERATIONS[operation].method === 'POST',
  );
  const clock = new ClockComparison();
  const compared = [...emulator.requests.values()].map((request): Compared => {
    const found = server.requests.get(request.label);
    const now = mentionedIn(request.reply?.body);
    const mentioned = new Set([...now, ...(previous.get(readKey(request)) ?? [])]);
    if (request.of) previous.set(readKey(request), now);
    const reason = request.reason ?? (found?.reply ? undefined : (stopReason ?? found?.reason ?? NOT_REACHED));
    const origin = `the reply of ${request.operation}`;
    const [ofSecond, id] = [found?.replyToSecond?.body?.id, request.reply?.body?.id];
    if (typeof ofSecond === 'string' && typeof id === 'string') roles.bind(ofSecond, id, `the id of ${origin}`);
    if (reason !== undefined || !found?.reply || !request.reply) return { request, differences: [], reason, mentioned };
    const { hasOthersItems = false, ignored = [], ignoresOrder = false } = request;
    const differences: FoundDifference[] = [];
    const onNewTime = (time: NewTime) => clock.add(time, found, request, differences);
    const comparing = { roles, origin, hasOthersItems, ignored, ignoresOrder, onNewTime };
    differences.push(...compareReplies(found.reply, request.reply, comparing), ...findLeaks(found, request, known));
    const sharedCount = shared.get(request.label) ?? 0;
    if (sharedCount > 0) differences.push(describeShared(sharedCount));
    const told = hasSentTwice ? differences.filter((each) => !isOfNumber(each)) : differences;
    if (told.length === 0 && differences.length > 0) return { request, differences: [], reason: SENT_TWICE, mentioned };
    return { request, differences: told, mentioned };
  });
  clock.addDifferences();
  return compared;
}

/** How much a time may be off, in milliseconds. The run itself may take some minutes on one of the two sides. */
const MAX_CLOCK_DIFFERENCE_MS = 30 * 60_000;

/** Compares each new time with the clock that the other times of the same run show. */
class ClockComparison {
  readonly #times: { time: NewTime; offsets: readonly [number, number]; differences: FoundDifference[] }[] = [];

  add(time: NewTime, found: RecordedRequest, emulator: RecordedRequest, differences: FoundDifference[]): void {
    const offsets = [
      Date.parse(time.found) - (found.sentMs ?? 0),
      Date.parse(time.emulator) - (emulator.sentMs ?? 0),
    ] as const;
    this.#times.push({ time, offsets, differences });
  }

  addDifferences(): void {
    const medians = ([0, 1] as const).map((side) => {
      const sorted = this.#times.map(({ offsets }) => offsets[side]).toSorted((a, b) => a - b);
      return sorted[Math.floor(sorted.length / 2)] ?? 0;
    });
    for (const { time, offsets, differences } of this.#times) {
      const offMs = offsets[0] - (medians[0] ?? 0) - (offsets[1] - (medians[1] ?? 0));
      if (Math.abs(offMs) < MAX_CLOCK_DIFFERENCE_MS) continue;
      const minutes = Math.round(Math.abs(offMs) / 60_000);
      const found = `a time ${minutes} minutes ${offMs < 0 ? 'before' : 'after'} the clock of the other times`;
      differences.push({ at: time.at, found, emulator: 'the time of the clock', owner: time.owner });
    }
  }
}

/**
 * Finds the lists that show an object to the keys of both tenants. What this run has created is compared with the
 * emulator, so only the other objects are counted, and these only if the emulator does not show them to both too.
 * Returns the number of these objects, by the label of the request of the other tenant.
 */
function findSharedObjects(server: Recording, emulator: Recording, roles: Roles): Map<string, number> {
  const ofRun = new Set(server.roles.values());
  const counts = new Map<string, number>();
  for (const [first, second] of listsOfBothTenants(emulator)) {
    const shared = sharedIdentities(server, first, second).filter((identity) => !ofRun.has(identity));
    const allowed = new Set(sharedIdentities(emulator, first, second));
    const isAllowed = (identity: string) => allowed.has(roles.emulatorValueOf(identity) ?? roles.translate(identity));
    counts.set(second, shared.filter((identity) => !isAllowed(identity)).length);
  }
  return counts;
}

/** The labels of the requests that list everything that the key of a tenant reaches, in pairs of both tenants. */
function listsOfBothTenants({ requests }: Recording): (readonly [first: string, second: string])[] {
  const all = [...requests.values()].filter(({ aspect, operation }) => {
    return aspect === 'items' && !OPERATIONS[operation].path.includes('{');
  });
  return all.flatMap((first) => {
    const isOfBoth = (other: RecordedRequest) => other.operation === first.operation && other.query === first.query;
    const second = all.find((other) => other.key.role === OTHER_TENANT && isOfBoth(other));
    return first.key.role === TENANT && second ? [[first.label, second.label] as const] : [];
  });
}

/** What identifies the objects that two replies of one recording both list. */
function sharedIdentities({ requests }: Recording, first: string, second: string): string[] {
  const identities = (label: string) => {
    const { body } = requests.get(label)?.reply ?? {};
    const list = Object.values(body ?? {}).find(Array.isArray) ?? [];
    return list.flatMap((item) => identityOf(item) ?? []);
  };
  const ofSecond = new Set(identities(second));
  return [...new Set(identities(first))].filter((identity) => ofSecond.has(identity));
}

/** Of an object that was there before the run, nothing is printed. */
const describeShared = (count: number): Difference => ({
  at: 'items',
  found: `${count} ${count === 1 ? 'id' : 'ids'} that the list of ${TENANT} shows too, of objects that this run did not create`,
  emulator: 'the lists of the two tenants have no id in common',
  kind: 'leak',
});

/** A statement with the requests that check it, and the differences that it has caused. */
interface CheckedStatement {
  readonly statement: Statement;
  readonly requests: Compared[];
  readonly caused: { readonly request: RecordedRequest; readonly difference: FoundDifference }[];
  /** The statement that differs in the same way and has the difference; undefined if there is none. */
  sameAs?: Statement;
}

/** Returns one finding for each statement about an operation. */
function createFindings(compared: readonly Compared[]): OperationFinding[] {
  const statements = new Map<string, CheckedStatement>();
  const find = (statement: Statement) => {
    const name = nameOfStatement(statement);
    const existing = statements.get(name) ?? { statement, requests: [], caused: [] };
    statements.set(name, existing);
    return existing;
  };
  for (const each of compared) {
    const { operation, aspect, of } = each.request;
    const own = aspect === 'old key' ? 'rotateInboxKey' : aspect === 'effect' && of ? of.operation : operation;
    // What reads the whole checks no single operation.
    if (!of?.group.startsWith(WHOLE)) find({ operation: own, aspect }).requests.push(each);
    for (const difference of each.differences) {
      if (difference.cause) find(difference.cause).caused.push({ request: each.request, difference });
    }
  }
  // A step that was not made may have created what would show its effect.
  for (const each of compared) {
    const { operation, aspect, of } = each.request;
    const name = nameOfStatement({ operation, aspect: 'effect' });
    const isStep = of !== undefined && aspect === 'reply';
    if (isStep && each.reason !== undefined && !statements.has(name))
      find({ operation, aspect: 'effect' }).requests.push(each);
  }
  leaveOutSame([...statements.values()]);
  const order = Object.keys(OPERATIONS);
  const sorted = [...statements.values()].toSorted(
    (a, b) => order.indexOf(a.statement.operation) - order.indexOf(b.statement.operation),
  );
  return sorted.map(createFinding);
}

/** If more operations than these differ in the same way, they have one cause. */
const SAME_OPERATIONS = 3;

/**
 * If many operations differ in the same way, such as in the form of each refusal, only the first has the difference. A
 * field that the emulator does not have is told once for all operations.
 */
function leaveOutSame(statements: readonly CheckedStatement[]): void {
  const groups = new Map<string, CheckedStatement[]>();
  const keyOf = ({ aspect }: Statement, { at, found, emulator, kind }: Difference) =>
    kind === 'extra field' ? `extra field ${at.split(/\W/).at(-1)}` : [aspect, at, found, emulator].join(' ');
  for (const each of statements) {
    const keys = new Set(each.caused.map(({ difference }) => keyOf(each.statement, difference)));
    for (const key of keys) groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  for (const [key, group] of groups) {
    const operations = new Set(group.map(({ statement }) => statement.operation));
    if (operations.size <= (key.startsWith('extra field') ? 1 : SAME_OPERATIONS)) continue;
    const [first, ...others] = group;
    for (const other of others) {
      const isSame = (difference: Difference) => keyOf(other.statement, difference) === key;
      const left = other.caused.filter(({ difference }) => !isSame(difference));
      if (first && left.length < other.caused.length) other.sameAs = first.statement;
      other.caused.splice(0, other.caused.length, ...left);
    }
  }
}

/** How many differences of one statement are printed. */
const MAX_PRINTED = 5;

function createFinding(checked: CheckedStatement): OperationFinding {
  const { statement, requests, caused, sameAs } = checked;
  const { operation, aspect, after } = statement;
  const stated = after === undefined ? STATED[aspect] : 'nothing changes but what an operation must change';
  const origin = originOfFinding(OPERATIONS[operation].origin);
  const row = { id: nameOfStatement(statement), operation, stated, origin };
  if (caused.length > 0) {
    // A leak is told first, and what follows from something else is told only if there is nothing else.
    const direct = caused.filter(({ difference }) => !difference.follows);
    const told = (direct.length > 0 ? direct : caused).toSorted(
      (a, b) => weightOf(a.difference) - weightOf(b.difference),
    );
    const different = new Map<string, (typeof told)[number]>();
    for (const each of told) {
      // Several operations show the same field.
      const { at, kind, found, emulator } = each.difference;
      const key = [kind === undefined ? `${fieldOf(each.difference)} ${found} ${emulator}` : at, kind].join(' ');
      if (!different.has(key)) different.set(key, each);
    }
    const shown = [...different.values()].slice(0, MAX_PRINTED);
    const labels = new Set(caused.map(({ request }) => describeRequest(request)));
    const operations = [...new Set(caused.map(({ request }) => request.operation))];
    const others =
      labels.size > shown.length
        ? `; the same in ${plural(labels.size - shown.length, 'more request')}, of ${listOf(operations)}`
        : '';
    const describe = ({ request, difference }: (typeof shown)[number]) =>
      `${difference.at}: ${difference.found} (${describeRequest(request)}`;
    // With a number, so that a reader finds what the emulator shows in place of each.
    const numbered = (texts: readonly string[]) =>
      texts.map((text, index) => (texts.length > 1 ? `[${index + 1}] ${text}` : text)).join('; ');
    return {
      ...row,
      verdict: 'differs',
      found: numbered(shown.map((each, index) => `${describe(each)}${index === shown.length - 1 ? others : ''})`)),
      emulator: numbered(shown.map(({ difference }) => difference.emulator)),
    };
  }
  const cause = sameAs ?? requests.flatMap(({ differences }) => differences.flatMap((each) => each.cause ?? [])).at(0);
  if (cause) {
    const followsFrom = nameOfStatement(cause);
    const found = sameAs ? `it is the same difference as that of ${followsFrom}` : followsText(followsFrom);
    return { ...row, verdict: 'not compared', found, emulator: '', followsFrom };
  }
  const missing = requests.filter(({ reason }) => reason !== undefined);
  if (missing.length > 0) {
    const first = missing[0]?.reason;
    const count = missing.length === requests.length ? '' : `${missing.length} of ${requests.length} requests: `;
    return {
      ...row,
      verdict: 'not compared',
      found: `${count}${first?.message}`,
      observableWith: first?.flag,
      emulator: '',
    };
  }
  return { ...row, verdict: 'agrees', found: 'as stated', emulator: '' };
}

const weightOf = ({ kind }: Difference) => (kind === 'leak' || kind === 'extra' ? 0 : kind === 'extra field' ? 2 : 1);

const listOf = (names: readonly string[]) =>
  names.length > 4 ? `${names.slice(0, 4).join(', ')} and ${names.length - 4} others` : names.join(', ');

/** Describes a request without ids and keys. */
function describeRequest(request: RecordedRequest): string {
  const { operation, key, query = '', filter = query, note = '', of, method, door } = request;
  const parts = [
    method,
    operation,
    filter && `with ${filter.replace(/^\?/, '')}`,
    `by ${key.role}`,
    door && door !== 'X-API-Key' && `sent as ${door}`,
    of && `after ${of.operation}`,
  ];
  return parts.filter(Boolean).join(' ') + (/^\D/.test(note) && !of ? ` ${note}` : '');
}

/** The statement of an observation, by the end of its label. */
function statedBy(label: string): string {
  if (label.endsWith('two at once')) return 'two requests at the same time create two things';
  if (label.endsWith('the counts of a whole tenant'))
    return 'the counts of a tenant change with what it gets, and with nothing else';
  return label.startsWith('streams')
    ? 'each key gets by a stream the events that it may see, with all their fields, and no others'
    : 'each webhook gets the deliveries that it must get, signed with its secret, and no others';
}

/** Compares what was observed without a reply. */
function compareNotes(
  server: Recording,
  emulator: Recording,
  roles: Roles,
  others: readonly OperationFinding[],
): OperationFinding[] {
  return [...emulator.notes.values()].map(({ label, operation, value, reason }) => {
    const found = server.notes.get(label);
    const origin = originOfFinding(OPERATIONS[operation].origin);
    const row = { id: label, operation, stated: statedBy(label), origin, emulator: '' };
    const missing = reason ?? (found ? found.reason : NOT_REACHED);
    if (missing !== undefined)
      return { ...row, verdict: 'not compared' as const, found: missing.message, observableWith: missing.flag };
    const [difference] = compareValues(found?.value, value, { roles, origin: label });
    if (!difference) return { ...row, verdict: 'agrees' as const, found: 'as stated' };
    const { at, found: shown, emulator: expected } = difference;
    // Each of these observations is about mail that the run has sent.
    const creators: readonly OperationId[] = [...creatorsOf(operation), ...SENDING];
    const isCause = (other: OperationFinding) =>
      other.operation === operation || (creators.includes(other.operation) && other.id.endsWith(': effect'));
    const cause = others.find((other) => other.verdict === 'differs' && isCause(other));
    if (cause) {
      const follows = { found: followsText(cause.id), followsFrom: cause.id };
      return { ...row, verdict: 'not compared' as const, ...follows };
    }
    return { ...row, verdict: 'differs' as const, found: `${at}: ${shown}`, emulator: expected };
  });
}
