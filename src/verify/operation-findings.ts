import { isDeepStrictEqual } from 'node:util';
import { OPERATION_ROWS, OPERATIONS, type OperationId } from '../contract/operations.ts';
import { compareReplies, compareValues, type Difference, identityOf, Roles } from './compare-replies.ts';
import type { Finding } from './finding.ts';
import { ITEM_PATHS, OTHER_TENANT, TENANT } from './operation-sequence.ts';
import type { Aspect, Exchange, Recording } from './recording.ts';

/** What the requests of each aspect check. */
const STATED: Readonly<Record<Aspect, string>> = {
  reply: 'the reply has the documented status, form and values',
  effect: 'what it changes is shown by every operation that reads it',
  items: 'each key of the run sees exactly what it may see, with all its fields',
  isolation: 'a key of another tenant, workspace or inbox cannot reach the resource',
  tiers: 'only keys of the documented tiers may call the operation',
  'old key': 'a rotated key is refused by every operation, at once and after 5 s',
};

/** A request with the differences of its two replies, or with the reason why they were not compared. */
export interface Compared {
  readonly exchange: Exchange;
  readonly differences: readonly Difference[];
  readonly reason?: string | undefined;
  /** Whether the emulator's reply to this request shows the effect of the step that is read back. */
  readonly isInformative: boolean;
  /** The statement that is wrong; `undefined` if the replies agree. */
  cause?: Cause;
  /** The differences follow from that of another statement. */
  follows?: boolean;
}

/** A statement that is wrong. */
type Cause = { readonly operation: OperationId; readonly aspect: Aspect };

const nameOfCause = ({ operation, aspect }: Cause) => `${operation}: ${aspect}`;

/** A finding about an operation. */
export type OperationFinding = Finding & { readonly operation: OperationId };

/** Compares the replies of the server and of an emulator to the same sequence, and finds the causes of differences. */
export function findInOperations(server: Recording, emulator: Recording, stopReason?: string): OperationFinding[] {
  const compared = compareExchanges(server, emulator, stopReason);
  const found = findingsOf(compared);
  return [...found, ...compareNotes(server, emulator, createRoles(server, emulator), found)];
}

/** Returns one finding for each statement, with the causes of the differences. */
export function findingsOf(compared: readonly Compared[]): OperationFinding[] {
  addCauses(compared);
  return createFindings(compared);
}

function createRoles(server: Recording, emulator: Recording): Roles {
  const roles = new Roles();
  for (const [role, value] of emulator.roles) {
    const found = server.roles.get(role);
    if (found !== undefined) roles.bind(found, value, role);
  }
  roles.bindWord(server.session.domain, emulator.session.domain);
  return roles;
}

function compareExchanges(server: Recording, emulator: Recording, stopReason?: string): Compared[] {
  const roles = createRoles(server, emulator);
  const previous = new Map<string, Exchange>();
  const shared = findSharedObjects(server, emulator, roles);
  return [...emulator.exchanges.values()].map((exchange) => {
    const found = server.exchanges.get(exchange.label);
    const isInformative = isChanged(exchange, previous.get(readKey(exchange)));
    if (exchange.of) previous.set(readKey(exchange), exchange);
    const reason =
      exchange.reason ?? found?.reason ?? (found ? undefined : (stopReason ?? 'the run did not come to it'));
    if (reason !== undefined || !found?.reply || !exchange.reply) {
      return { exchange, differences: [], reason, isInformative };
    }
    const origin = `the reply of ${exchange.operation}`;
    const { hasOthersItems = false, ignored = [] } = exchange;
    const differences = compareReplies(found.reply, exchange.reply, { roles, origin, hasOthersItems, ignored });
    const sharedCount = shared.get(exchange.label) ?? 0;
    if (sharedCount > 0) differences.push(describeShared(sharedCount));
    return { exchange, differences, isInformative };
  });
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
function listsOfBothTenants({ exchanges }: Recording): (readonly [first: string, second: string])[] {
  const all = [...exchanges.values()].filter(({ aspect, operation }) => {
    return aspect === 'items' && !OPERATIONS[operation].path.includes('{');
  });
  return all.flatMap((first) => {
    const isOfBoth = (other: Exchange) => other.operation === first.operation && other.query === first.query;
    const second = all.find((other) => other.key.role === OTHER_TENANT && isOfBoth(other));
    return first.key.role === TENANT && second ? [[first.label, second.label] as const] : [];
  });
}

/** What identifies the objects that two replies of one recording both list. */
function sharedIdentities({ exchanges }: Recording, first: string, second: string): string[] {
  const identities = (label: string) => {
    const { body } = exchanges.get(label)?.reply ?? {};
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
  isAboutItems: true,
});

/** Tells apart the requests that read one object again and again. */
const readKey = ({ operation, key, query, of }: Exchange) => [operation, key.role, query, of?.object].join(' ');

/** Whether the emulator answers a request otherwise than before the step. */
function isChanged({ reply, of }: Exchange, before: Exchange | undefined): boolean {
  if (!of || !reply) return false;
  if (before?.reply) {
    return before.reply.status !== reply.status || !isDeepStrictEqual(before.reply.body, reply.body);
  }
  return of.step === 0 && reply.status < 300 && reply.body?.listed?.length !== 0;
}

/** What is known to be wrong with an object: the fields, or everything if it is not where it should be. */
interface Fault {
  readonly cause: Cause;
  readonly fields: Set<string>;
  isEverything: boolean;
}

const lastField = ({ at }: Difference) => at.split(/\W/).findLast((step) => step !== '') ?? at;

const isAboutPresence = ({ at, isAboutItems }: Difference) => at === 'status' || isAboutItems === true;

/** Finds the statement that is wrong for each difference. */
function addCauses(compared: readonly Compared[]): void {
  const faults = new Map<string, Fault>();
  const addFault = (name: string, cause: Cause, differences: readonly Difference[]) => {
    const fault = faults.get(name) ?? { cause, fields: new Set<string>(), isEverything: false };
    faults.set(name, fault);
    for (const difference of differences) {
      // A mark that is not kept changes folders and counts too.
      const isMark = cause.operation === 'updateMessage' && cause.aspect === 'effect';
      if (isAboutPresence(difference) || isMark) fault.isEverything = true;
      fault.fields.add(lastField(difference));
    }
  };
  /** Finds what is known to be wrong with an object, or with what an operation has created, if it explains all. */
  const faultFor = (names: readonly string[], differences: readonly Difference[]) =>
    names
      .map((name) => faults.get(name))
      .find(
        (fault) => fault?.isEverything || (fault && differences.every((each) => fault.fields.has(lastField(each)))),
      );
  const withUnknownKey = new Map(
    compared
      .filter(({ exchange }) => exchange.aspect === 'tiers' && exchange.key.role === 'an unknown key')
      .map((each) => [each.exchange.operation, each]),
  );

  /** Whether an operation differs in the same way where it does not read back an effect. */
  const isWrongElsewhere = ({ exchange, differences }: Compared) =>
    compared.some(
      (other) =>
        other.exchange.operation === exchange.operation &&
        (other.exchange.aspect === 'items' || other.exchange.aspect === 'tiers') &&
        other.differences.some(({ at, found }) =>
          differences.some((each) => each.at === at && (at !== 'status' || each.found === found)),
        ),
    );

  // First the effects: an operation that changes something is wrong if all operations that can show the change agree.
  const seenBefore = new Map<string, { readonly places: Set<string>; readonly cause: Cause }>();
  for (const step of stepsOf(compared)) {
    const of = step[0]?.exchange.of;
    if (!of) continue;
    const differing = step.filter(({ differences }) => differences.length > 0);
    const others = new Set(
      step
        .filter((each) => each.isInformative && each.reason === undefined && each.exchange.aspect === 'effect')
        .map(({ exchange }) => exchange.operation),
    );
    for (const { exchange } of differing) others.delete(exchange.operation);
    const readers = new Set(
      step.filter(({ exchange }) => exchange.aspect === 'effect').map(({ exchange }) => exchange.operation),
    );
    const explained: Compared[] = [];
    for (const each of differing) {
      const { exchange, differences } = each;
      const before = seenBefore.get(readKey(exchange));
      const isAsBefore = before && differences.every(({ at }) => before.places.has(at));
      const fault = faultFor([of.object, ...creatorsOf(exchange.operation), ...creatorsOf(of.operation)], differences);
      if (fault) each.cause = fault.cause;
      else if (exchange.aspect === 'reply') each.cause = { operation: exchange.operation, aspect: 'reply' };
      else if (isAsBefore) each.cause = before.cause;
      else if (others.size > 0 || (readers.size === 1 && isWrongElsewhere(each))) {
        each.cause = { operation: exchange.operation, aspect: 'items' };
      } else each.cause = { operation: of.operation, aspect: 'effect' };
      if (fault || each.cause.operation === of.operation) explained.push(each);
      each.follows =
        nameOfCause(each.cause) !== nameOfCause({ operation: exchange.operation, aspect: exchange.aspect });
      seenBefore.set(readKey(exchange), { places: new Set(differences.map(({ at }) => at)), cause: each.cause });
    }
    for (const { cause, differences } of explained) {
      if (!cause) continue;
      addFault(of.object, cause, differences);
      addFault(of.operation, cause, differences);
    }
  }

  for (const each of compared) {
    const { exchange, differences } = each;
    if (differences.length === 0 || each.cause) continue;
    const { operation, aspect } = exchange;
    if (aspect === 'old key') {
      // An operation that accepts every key is wrong itself.
      const isOperation = withUnknownKey.get(operation)?.differences.length ?? 0;
      each.cause = isOperation ? { operation, aspect: 'tiers' } : { operation: 'rotateInboxKey', aspect };
      continue;
    }
    const fault = aspect === 'tiers' ? undefined : faultFor(creatorsOf(operation), differences);
    each.cause = fault?.cause ?? { operation, aspect };
    if (fault) each.follows = true;
  }
}

/** The operations that send mail. */
const SENDING = OPERATION_ROWS.filter(({ id }) => /^(?:send|reply|forward)/.test(id)).map(({ id }) => id);

/** The operations that have created what an operation reads or changes, and what it counts. */
function creatorsOf(id: OperationId): OperationId[] {
  const { path } = OPERATIONS[id];
  const isIn = (itemPath: string) => path === itemPath || path.startsWith(`${itemPath}/`);
  const creators = OPERATION_ROWS.filter((row) => {
    const itemPath = ITEM_PATHS[row.id];
    return row.id !== id && itemPath !== undefined && (isIn(itemPath) || path === row.path);
  }).map((row) => row.id);
  const mail = /messages|threads|metrics|reply|forward/.test(path) ? [...SENDING, 'updateMessage' as const] : [];
  return [...creators, ...mail, ...(COUNTED[id] ?? [])].filter((creator) => creator !== id);
}

/** The operations whose results an operation counts. */
const COUNTED: { readonly [Id in OperationId]?: readonly OperationId[] } = {
  listWorkspaces: ['createInbox', 'createDomain'],
  getWorkspace: ['createInbox', 'createDomain'],
  getMetrics: ['createInbox', 'createDomain'],
  getList: ['createListEntry'],
  listLists: ['createListEntry'],
};

/** The requests that belong to a step of an object, for each step, in order. */
function stepsOf(compared: readonly Compared[]): Compared[][] {
  const steps = new Map<string, Compared[]>();
  for (const each of compared) {
    const { of } = each.exchange;
    if (!of) continue;
    const name = `${of.object} ${of.step} ${of.operation}`;
    steps.set(name, [...(steps.get(name) ?? []), each]);
  }
  return [...steps.values()];
}

/** Returns one finding for each statement about an operation. */
function createFindings(compared: readonly Compared[]): OperationFinding[] {
  const statements = new Map<
    string,
    { readonly cause: Cause; readonly requests: Compared[]; readonly caused: Compared[] }
  >();
  const statement = (cause: Cause) => {
    const name = nameOfCause(cause);
    const existing = statements.get(name) ?? { cause, requests: [], caused: [] };
    statements.set(name, existing);
    return existing;
  };
  for (const each of compared) {
    const { operation, aspect, of } = each.exchange;
    const isOldKey = aspect === 'old key';
    const isEffect = aspect === 'effect' && of !== undefined;
    const own = isOldKey ? 'rotateInboxKey' : isEffect ? of.operation : operation;
    statement({ operation: own, aspect }).requests.push(each);
    if (each.cause) statement(each.cause).caused.push(each);
  }
  const order = Object.keys(OPERATIONS);
  const sorted = [...statements.values()].toSorted(
    (a, b) => order.indexOf(a.cause.operation) - order.indexOf(b.cause.operation),
  );
  return groupSame(sorted.map(createFinding));
}

function createFinding({
  cause,
  requests,
  caused,
}: {
  cause: Cause;
  requests: readonly Compared[];
  caused: readonly Compared[];
}): OperationFinding {
  const { operation, aspect } = cause;
  const row = { id: nameOfCause(cause), operation, stated: STATED[aspect] };
  if (caused.length > 0) {
    const [first] = caused.filter(({ follows }) => !follows).concat(caused);
    const [difference] = first?.differences ?? [];
    const labels = new Set(caused.map(({ exchange }) => describeRequest(exchange)));
    const operations = [...new Set(caused.map(({ exchange }) => exchange.operation))];
    const others = labels.size > 1 ? `; so do ${labels.size - 1} more requests, of ${listOf(operations)}` : '';
    const request = first ? describeRequest(first.exchange) : '';
    return {
      ...row,
      verdict: 'differs',
      found: `${difference?.at}: ${difference?.found} (${request}${others})`,
      emulator: `${difference?.emulator}`,
    };
  }
  const follows = requests.find((each) => each.cause);
  if (follows?.cause) {
    const followsFrom = nameOfCause(follows.cause);
    return { ...row, verdict: 'not compared', found: `it follows from ${followsFrom}`, emulator: '', followsFrom };
  }
  const missing = requests.filter(({ reason }) => reason !== undefined);
  if (missing.length > 0) {
    const count = missing.length === requests.length ? '' : `${missing.length} of ${requests.length} requests: `;
    return { ...row, verdict: 'not compared', found: `${count}${missing[0]?.reason}`, emulator: '' };
  }
  return { ...row, verdict: 'agrees', found: 'as stated', emulator: '' };
}

/**
 * If many operations differ in the same way, such as in the form of each refusal, the first is the cause, and the others
 * follow from it.
 */
function groupSame(findings: readonly OperationFinding[]): OperationFinding[] {
  const keyOf = ({ id, found, emulator }: OperationFinding) =>
    [id.replace(/^\w+/, ''), found.replace(/ \(.*/, ''), emulator].join(' ');
  const groups = new Map<string, OperationFinding[]>();
  for (const finding of findings.filter(({ verdict }) => verdict === 'differs')) {
    groups.set(keyOf(finding), [...(groups.get(keyOf(finding)) ?? []), finding]);
  }
  return findings.map((finding) => {
    const group = groups.get(keyOf(finding)) ?? [];
    const [first] = group;
    if (finding.verdict !== 'differs' || group.length <= SAME_OPERATIONS || !first || finding === first) return finding;
    const found = `it is the same difference as that of ${first.id}`;
    return { ...finding, verdict: 'not compared', found, followsFrom: first.id };
  });
}

/** If more operations than these differ in the same way, they have one cause. */
const SAME_OPERATIONS = 3;

const listOf = (names: readonly string[]) =>
  names.length > 4 ? `${names.slice(0, 4).join(', ')} and ${names.length - 4} others` : names.join(', ');

/** Describes a request without ids and keys. */
function describeRequest({ operation, key, query = '', filter = query, note = '', of }: Exchange): string {
  const parts = [
    operation,
    filter && `with ${filter.replace(/^\?/, '')}`,
    `by ${key.role}`,
    of && `after ${of.operation}`,
  ];
  return parts.filter(Boolean).join(' ') + (/^\D/.test(note) && !of ? ` ${note}` : '');
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
    const row = { id: label, operation, stated: label, emulator: '' };
    const missing = reason ?? (found ? found.reason : 'the run did not come to it');
    if (missing !== undefined) return { ...row, verdict: 'not compared' as const, found: missing };
    const [difference] = compareValues(found?.value, value, { roles, origin: label });
    if (!difference) return { ...row, verdict: 'agrees' as const, found: 'as stated' };
    const { at, found: shown, emulator: expected } = difference;
    // Each of these observations is about mail that the run has sent.
    const creators: readonly OperationId[] = [...creatorsOf(operation), ...SENDING];
    const isCause = (other: OperationFinding) =>
      other.operation === operation || (creators.includes(other.operation) && other.id.endsWith(': effect'));
    const cause = others.find((other) => other.verdict === 'differs' && isCause(other));
    if (cause) {
      const follows = { found: `it follows from ${cause.id}`, followsFrom: cause.id };
      return { ...row, verdict: 'not compared' as const, ...follows };
    }
    return { ...row, verdict: 'differs' as const, found: `${at}: ${shown}`, emulator: expected };
  });
}
