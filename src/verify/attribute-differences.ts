import { OPERATION_ROWS, OPERATIONS, type OperationId } from '../contract/operations.ts';
import { type Difference, fieldOf, identityOf, normaliseField } from './compare-replies.ts';
import type { Aspect, RecordedRequest, Step } from './recording.ts';
import { ITEM_PATHS } from './scene.ts';
import type { Reason } from './verify-session.ts';

/** A statement that is wrong: about an operation, or about the whole after some groups of steps. */
export interface Statement {
  readonly operation: OperationId;
  readonly aspect: Aspect;
  /** The groups of steps one of which has changed what it must not change. */
  readonly after?: string;
}

const isStatement = (cause: Statement | Reason): cause is Statement => 'operation' in cause;

export const nameOfStatement = ({ operation, aspect, after }: Statement) =>
  after === undefined ? `${operation}: ${aspect}` : `the whole: after ${after}`;

/** A difference, with the statement that is wrong. */
export interface FoundDifference extends Difference {
  cause?: Statement;
  /** It follows from another statement than that which the request checks. */
  follows?: boolean;
}

/** A request with the differences of its two replies, or with the reason why they were not compared. */
export interface Compared {
  readonly request: RecordedRequest;
  differences: readonly FoundDifference[];
  reason?: Reason | undefined;
  /** What the emulator shows to this request, now or before the step: things, and fields of things. */
  readonly mentioned?: ReadonlySet<string>;
}

/** The begin of the group of a step that reads the whole. */
export const WHOLE = 'the whole';

/** Tells apart the requests that read one object again and again. */
export const readKey = ({ operation, method, key, query, door, of, thing }: RecordedRequest) =>
  [operation, method, key.role, query, door, of?.group.split(' ').slice(0, 2).join(' '), thing].join(' ');

const PRESENCE = '*';

const isAboutPresence = ({ kind }: Difference) => kind === 'status' || kind === 'missing' || kind === 'extra';

const isOfList = ({ kind }: Difference) => kind === 'missing' || kind === 'extra';

export const isCount = ({ found, emulator }: Difference) =>
  [found, emulator].every((text) => /^\d+(?: items?)?$/.test(text));

/** The thing and the field that a difference is about. */
function symptomOf(request: RecordedRequest, difference: Difference) {
  const thing = difference.owner ?? request.thing ?? readKey(request);
  return { thing, field: isAboutPresence(difference) ? PRESENCE : fieldOf(difference) };
}

/** Returns the things that a body shows, and their fields, as `thing|field`. */
export function mentionedIn(body: unknown, owner = '', into = new Set<string>()): Set<string> {
  if (Array.isArray(body)) for (const item of body) mentionedIn(item, owner, into);
  else if (typeof body === 'object' && body !== null) {
    const self = identityOf(body) ?? owner;
    into.add(`${self}|${PRESENCE}`);
    for (const [name, value] of Object.entries(body)) {
      into.add(`${self}|${normaliseField(name)}`);
      mentionedIn(value, self, into);
    }
  }
  return into;
}

/** What is known to be wrong: by thing and field, and by the operation that has created things. */
class KnownDefects {
  readonly #byThing = new Map<string, Statement>();
  readonly #byOperation = new Map<string, Statement>();
  /** The things that the run has deleted, with the operation that has deleted each. */
  readonly #deleted: ReadonlyMap<string, OperationId>;

  constructor(deleted: ReadonlyMap<string, OperationId>) {
    this.#deleted = deleted;
  }

  add(operations: readonly OperationId[], request: RecordedRequest, difference: Difference, cause: Statement): void {
    const { thing, field } = symptomOf(request, difference);
    if (difference.kind === 'leak') return;
    if (!this.#byThing.has(`${thing}|${field}`)) this.#byThing.set(`${thing}|${field}`, cause);
    for (const operation of operations) {
      const name = `${operation}|${field}`;
      if (!this.#byOperation.has(name)) this.#byOperation.set(name, cause);
    }
  }

  /** Says that the operation answers as if it had created things, and that nothing shows these. */
  addVanished(thing: string, operation: OperationId): void {
    const cause: Statement = { operation, aspect: 'effect' };
    this.#byThing.set(`${thing}|${PRESENCE}`, cause);
    this.#byOperation.set(`${operation}|${PRESENCE}`, cause);
  }

  /** Returns what explains a difference in a thing, or in what the operations have created. */
  find(request: RecordedRequest, difference: Difference, creators: readonly OperationId[] = []): Statement | undefined {
    if (difference.kind === 'leak') return undefined;
    const { thing, field } = symptomOf(request, difference);
    const ofThing = this.#byThing.get(`${thing}|${field}`) ?? this.#byThing.get(`${thing}|${PRESENCE}`);
    if (ofThing) return ofThing;
    const isDerived = isCount(difference) || difference.kind === 'order' || field === PRESENCE;
    const deleter = this.#deleted.get(thing);
    for (const creator of deleter ? [...creators, deleter] : creators) {
      const name = `${creator}|${field}`;
      // A wrong mark of a message changes folders and counts too.
      const isMark = isDerived && creator === 'updateMessage';
      const marks = isMark
        ? ['isRead', 'isStarred', 'isArchived'].map((mark) => `${creator}|${normaliseField(mark)}`)
        : [];
      const presence = isDerived ? [`${creator}|${PRESENCE}`] : [];
      const found = [name, ...presence, ...marks].map((each) => this.#byOperation.get(each)).find(Boolean);
      if (found) return found;
    }
    return undefined;
  }
}

/** Finds the statement that is wrong for each difference. */
export function attributeDifferences(compared: readonly Compared[]): void {
  const defects = new KnownDefects(findDeleted(compared));
  /** The lists of which some items are missing or too many, so that their pages have other items too. */
  const changedLists = new Map<string, Statement>();
  /** The operations that show something wrongly to a key: these are no witnesses of what a step has changed. */
  const wrongReaders = new Map<string, Statement>();
  const readerKey = ({ operation, key }: RecordedRequest) => `${operation} ${key.role}`;
  const listKey = ({ operation, thing, key }: RecordedRequest) => `${operation} ${thing ?? key.role}`;
  const attribute = (request: RecordedRequest, difference: FoundDifference, cause: Statement) => {
    difference.cause = cause;
    const isOfReader = cause.operation === request.operation && cause.aspect === 'items';
    if (isOfReader && !wrongReaders.has(readerKey(request))) wrongReaders.set(readerKey(request), cause);
    if (isOfList(difference) && !isOfReader && !changedLists.has(listKey(request)))
      changedLists.set(listKey(request), cause);
    const { operation, aspect, of } = request;
    const own = aspect === 'effect' && of ? { operation: of.operation, aspect } : { operation, aspect };
    difference.follows = nameOfStatement(cause) !== nameOfStatement(own);
  };
  const withUnknownKey = new Map(
    compared
      .filter(({ request }) => request.aspect === 'tiers' && request.key.role === 'an unknown key')
      .map((each) => [each.request.operation, each]),
  );
  const acceptsAnyKey = (operation: OperationId) => (withUnknownKey.get(operation)?.differences.length ?? 0) > 0;

  for (const [thing, operation] of findVanished(compared)) defects.addVanished(thing, operation);

  // What creates things outside of steps: its replies first, because what they show is read back later.
  for (const { request, differences } of compared) {
    if (request.aspect !== 'reply' || request.of) continue;
    for (const difference of differences) {
      const { operation } = request;
      const known = defects.find(request, difference, creatorsOf(operation));
      const cause = known ?? { operation, aspect: 'reply' };
      attribute(request, difference, cause);
      defects.add([operation], request, difference, cause);
    }
  }

  const steps = stepsOf(compared);
  const isWrongInGeneral = findWrongInGeneral(compared, steps);
  /** How each thing differed when it was last read: the statement that is wrong, or why that cannot be told. */
  const seenBefore = new Map<string, ReadonlyMap<string, Statement | Reason>>();
  const placeOf = ({ owner, at }: Difference) => `${owner} ${at}`;
  /** The effects on what exists, by the group and the path of the things. */
  const undeleted = new Map<string, Statement>();
  /** The statement by which a group was last wrong, which is why a step of it may lack what it needs. */
  const latestOfGroup = new Map<string, Statement>();
  const isOfWhole = ({ step }: (typeof steps)[number]) => step.group.startsWith(`${WHOLE} `);
  for (const { step, requests } of steps.filter((each) => !isOfWhole(each))) attributeStep(step, requests);

  function attributeStep(of: Step, requests: readonly Compared[]): void {
    const { operation } = of;
    const own = requests.find(({ request }) => request.aspect === 'reply');
    let refused: Statement | undefined;
    for (const difference of own?.differences ?? []) {
      if (!own) continue;
      // What was not deleted is there already when it is created again.
      const isAgain = difference.kind === 'status' && operation in ITEM_PATHS;
      const known =
        (isAgain ? undeleted.get(`${of.group} ${ITEM_PATHS[operation]}`) : undefined) ??
        defects.find(own.request, difference, creatorsOf(operation));
      const cause = known ?? { operation, aspect: 'reply' as const };
      attribute(own.request, difference, cause);
      defects.add([operation], own.request, difference, cause);
      if (difference.kind === 'status') refused = cause;
    }
    const readings = requests.filter(({ request }) => request.aspect === 'effect');
    const fresh: (readonly [Compared, FoundDifference])[] = [];
    let effect: Statement | undefined;
    // A step that was not made, or made twice, has other effects, which are no defect of it. What is read only at the end
    // of a group, some step of it has changed.
    const isCompared = own !== undefined && own.reason === undefined;
    const notMade = isCompared ? undefined : (latestOfGroup.get(of.group) ?? own?.reason);
    const untold = new Map<string, ReadonlyMap<string, Reason>>();
    for (const each of readings) {
      const before = seenBefore.get(readKey(each.request));
      const untoldHere = new Map<string, Reason>();
      for (const difference of each.differences) {
        const known =
          before?.get(placeOf(difference)) ??
          defects.find(each.request, difference, creatorsOf(each.request.operation)) ??
          refused ??
          notMade;
        if (known === undefined) fresh.push([each, difference]);
        else if (!isStatement(known)) untoldHere.set(placeOf(difference), known);
        else {
          attribute(each.request, difference, known);
          if (known.operation === operation && known.aspect !== 'items') effect ??= known;
        }
      }
      const [reason] = untoldHere.values();
      if (reason === undefined) continue;
      untold.set(readKey(each.request), untoldHere);
      each.reason ??= reason;
      each.differences = each.differences.filter((difference) => !untoldHere.has(placeOf(difference)));
    }
    const bySymptom = new Map<string, (readonly [Compared, FoundDifference])[]>();
    for (const entry of fresh) {
      const { thing, field } = symptomOf(entry[0].request, entry[1]);
      bySymptom.set(`${thing}|${field}`, [...(bySymptom.get(`${thing}|${field}`) ?? []), entry]);
    }
    // What several operations show comes first, and what only counts things last: it is wrong if the things are.
    const readersOfSymptom = (entries: readonly (readonly [Compared, FoundDifference])[]) =>
      new Set(entries.map(([{ request }]) => request.operation)).size;
    const weight = (entries: readonly (readonly [Compared, FoundDifference])[]) =>
      entries.every(([, difference]) => isCount(difference)) ? 2 : readersOfSymptom(entries) > 1 ? 0 : 1;
    const symptoms = [...bySymptom].toSorted(([, a], [, b]) => weight(a) - weight(b));
    const isOfDeletedKey = of.group === 'deleted keys';
    const accepting = new Set(fresh.map(([{ request }]) => request.operation));
    for (const [symptom, entries] of symptoms) {
      const wrong = new Set(entries.map(([{ request }]) => request.operation));
      const isRight = ({ request, reason, mentioned }: Compared) =>
        reason === undefined && !wrong.has(request.operation) && mentioned?.has(symptom) === true;
      const areReadersWrong = readings.some(isRight);
      for (const [each, difference] of entries) {
        const { request } = each;
        const isOnlyReader = wrong.size === 1;
        const isReader =
          difference.kind === 'leak' ||
          areReadersWrong ||
          (isOnlyReader && isWrongInGeneral(request.operation, difference)) ||
          (isOnlyReader && difference.kind === 'extra' && each.mentioned?.has(symptom) !== true);
        const isOfOperation =
          /^(?:deleted keys|tenants|\w+ with the new key)/.test(of.group) && acceptsAnyKey(request.operation);
        const changes: Statement = { operation, aspect: 'effect' };
        const cause: Statement = isOfOperation
          ? { operation: request.operation, aspect: 'tiers' }
          : isOfDeletedKey && accepting.size < MANY_OPERATIONS
            ? { operation: request.operation, aspect: 'key forms' }
            : effect && (isCount(difference) || (isOnlyReader && isAboutPresence(difference)))
              ? effect
              : isReader
                ? { operation: request.operation, aspect: 'items' }
                : changes;
        attribute(request, difference, cause);
        if (cause === changes) {
          effect ??= cause;
          const { path } = OPERATIONS[operation];
          if (isAboutPresence(difference)) undeleted.set(`${of.group} ${path}`, cause);
        }
        defects.add(cause === changes ? [operation] : [], request, difference, cause);
      }
    }
    for (const { request, differences } of readings) {
      const causes = differences.flatMap((each) => (each.cause ? [[placeOf(each), each.cause] as const] : []));
      seenBefore.set(
        readKey(request),
        new Map<string, Statement | Reason>([...causes, ...(untold.get(readKey(request)) ?? [])]),
      );
    }
    const latest = effect ?? own?.differences.find(({ cause }) => cause)?.cause;
    if (latest) latestOfGroup.set(of.group, latest);
  }

  /** How the replies of an operation differ elsewhere, which is then no news. */
  const ofReplies = new Map<string, Statement>();
  const replyKey = (operation: OperationId, { at, found, emulator, kind }: Difference) =>
    [operation, kind === 'status' ? `${found} ${emulator}` : at.replace(/^\w+\[\]\./, '')].join(' ');
  const addReply = (operation: OperationId, difference: FoundDifference) => {
    const key = replyKey(operation, difference);
    if (difference.cause && difference.kind !== 'leak' && !ofReplies.has(key)) ofReplies.set(key, difference.cause);
  };
  for (const { request, differences } of compared) {
    for (const difference of differences) {
      if (difference.cause?.operation === request.operation) addReply(request.operation, difference);
    }
  }
  /** The first statement by which the server has done what it must refuse. */
  let notRefused: Statement | undefined;
  for (const { request, differences } of compared) {
    const { operation, aspect } = request;
    for (const difference of differences) {
      if (difference.cause) continue;
      if (request.of?.group.startsWith(`${WHOLE} `)) continue;
      const isLeak = difference.kind === 'leak';
      let cause: Statement | undefined;
      if (isLeak) cause = { operation, aspect: aspect === 'old key' ? 'tiers' : aspect };
      else if (aspect === 'old key' || aspect === 'key forms') {
        cause = acceptsAnyKey(operation)
          ? { operation, aspect: 'tiers' }
          : { operation: aspect === 'old key' ? 'rotateInboxKey' : operation, aspect };
      } else if (aspect !== 'tiers' || request.method !== undefined) {
        // Whether a value is accepted depends on nothing that was created, but for what the request is about.
        const isGone = difference.kind === 'status' && difference.found === '404';
        const ofInput = difference.kind === undefined ? [operation] : [];
        const creators = aspect === 'input' && !isGone ? ofInput : creatorsOf(operation);
        cause = defects.find(request, difference, creators);
        if (aspect !== 'items') cause ??= ofReplies.get(replyKey(operation, difference));
        if (isOfList(difference)) cause ??= changedLists.get(listKey(request));
      }
      attribute(request, difference, cause ?? { operation, aspect });
      if (aspect === 'items') addReply(operation, difference);
      if (difference.found.startsWith('2') && difference.kind === 'status' && OPERATIONS[operation].method !== 'GET') {
        notRefused ??= difference.cause;
      }
    }
  }
  // The whole comes last: what differs there and nowhere else, some step has changed without a reading that shows it.
  for (const { step, requests } of steps.filter(isOfWhole)) {
    for (const { request, differences } of requests) {
      const before = seenBefore.get(readKey(request));
      for (const difference of differences) {
        const seen = before?.get(placeOf(difference));
        const known =
          (seen && isStatement(seen) ? seen : undefined) ??
          defects.find(request, difference, creatorsOf(request.operation)) ??
          ofReplies.get(replyKey(request.operation, difference)) ??
          wrongReaders.get(readerKey(request)) ??
          notRefused;
        const changed = {
          operation: step.operation,
          aspect: 'effect',
          after: step.group.slice(WHOLE.length + 1),
        } as const;
        const shows = { operation: request.operation, aspect: 'items' } as const;
        attribute(request, difference, difference.kind === 'leak' ? shows : (known ?? changed));
      }
      const causes = differences.flatMap((each) => (each.cause ? [[placeOf(each), each.cause] as const] : []));
      seenBefore.set(readKey(request), new Map(causes));
    }
  }
}

/** Finds what was deleted, with the operation that has deleted it. */
function findDeleted(compared: readonly Compared[]): Map<string, OperationId> {
  const deletions = compared.filter(({ request: { operation, reply } }) => {
    return OPERATIONS[operation].method === 'DELETE' && reply !== undefined && reply.status < 300;
  });
  return new Map(deletions.map(({ request: { thing = '', operation } }) => [thing, operation]));
}

/**
 * Finds what was created, as the reply said, and what none of the operations shows afterwards that must show it: with the
 * operation that should have created it. If one operation shows it, those are wrong that do not.
 */
function findVanished(compared: readonly Compared[]): Map<string, OperationId> {
  const creators = new Map<string, OperationId>();
  const denying = new Map<string, Set<OperationId>>();
  const shown = new Set<string>();
  for (const { request, differences, reason } of compared) {
    const { operation, thing, reply } = request;
    if (reason !== undefined || request.method !== undefined || !reply || reply.status >= 300) continue;
    const isRefused = differences.some(({ kind }) => kind === 'status');
    const values = Object.values(reply.body as object);
    const created =
      operation in ITEM_PATHS && !isRefused ? [reply.body, ...values].map(identityOf).find(Boolean) : undefined;
    if (created !== undefined && !creators.has(created)) creators.set(created, operation);
    const listed = values.filter(Array.isArray).flatMap((items) => items.map(identityOf));
    for (const mentioned of [thing, ...listed]) {
      if (mentioned === undefined) continue;
      const isMissing = differences.some(({ kind, owner }) => kind === 'missing' && owner === mentioned);
      if (!isRefused && !isMissing) shown.add(mentioned);
      else denying.set(mentioned, (denying.get(mentioned) ?? new Set()).add(operation));
    }
  }
  // One operation alone that does not show it may be wrong itself.
  const isVanished = (thing: string) => !shown.has(thing) && (denying.get(thing)?.size ?? 0) > 1;
  return new Map([...creators].filter(([thing]) => isVanished(thing)));
}

/** If so many operations accept a key that was deleted, the deletion is wrong, and not the operation. */
const MANY_OPERATIONS = 3;

/** The requests that belong to each step, in order. */
function stepsOf(compared: readonly Compared[]) {
  const steps = new Map<string, { readonly step: Step; readonly requests: Compared[] }>();
  for (const each of compared) {
    const { of } = each.request;
    if (!of) continue;
    const name = `${of.group} ${of.step} ${of.operation}`;
    const step = steps.get(name) ?? { step: of, requests: [] };
    step.requests.push(each);
    steps.set(name, step);
  }
  return [...steps.values()];
}

/**
 * Returns whether an operation shows something wrongly in general: it differs at the same place where no step is read
 * back, or after the steps of several operations.
 */
function findWrongInGeneral(compared: readonly Compared[], steps: ReturnType<typeof stepsOf>) {
  const keyOf = (operation: OperationId, { at, kind, found }: Difference) =>
    `${operation} ${at} ${kind === 'status' ? found : ''}`;
  const elsewhere = new Set<string>();
  for (const { request, differences } of compared) {
    if (request.aspect !== 'items' && request.aspect !== 'tiers') continue;
    for (const difference of differences) elsewhere.add(keyOf(request.operation, difference));
  }
  const after = new Map<string, Set<string>>();
  const before = new Map<string, readonly Difference[]>();
  for (const { step, requests } of steps) {
    for (const { request, differences } of requests) {
      if (request.aspect !== 'effect') continue;
      const old = before.get(readKey(request)) ?? [];
      before.set(readKey(request), differences);
      for (const difference of differences) {
        if (old.some(({ at, owner }) => at === difference.at && owner === difference.owner)) continue;
        const key = keyOf(request.operation, difference);
        after.set(key, (after.get(key) ?? new Set()).add(step.group.startsWith(WHOLE) ? 'whole' : step.operation));
      }
    }
  }
  return (operation: OperationId, difference: Difference) => {
    const key = keyOf(operation, difference);
    return elsewhere.has(key) || (after.get(key)?.size ?? 0) > 2;
  };
}

/** The operations that send mail. */
export const SENDING = OPERATION_ROWS.filter(({ id }) => /^(?:send|reply|forward)/.test(id)).map(({ id }) => id);

/** The operations that have created or changed what an operation reads or changes, and what it counts. */
export function creatorsOf(id: OperationId): OperationId[] {
  const { path } = OPERATIONS[id];
  const isIn = (itemPath: string) => path === itemPath || path.startsWith(`${itemPath}/`);
  const creators = OPERATION_ROWS.filter((row) => {
    const itemPath = row.method === 'PATCH' ? row.path : ITEM_PATHS[row.id];
    const listPath = itemPath?.replace(/\/\{\w+\}$/, '');
    return itemPath !== undefined && (isIn(itemPath) || path === listPath);
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
