import { OPERATION_ROWS, OPERATIONS, type OperationId } from '../contract/operations.ts';
import { type Difference, fieldOf, identityOf } from './compare-replies.ts';
import type { Aspect, RecordedRequest, Step } from './recording.ts';
import { ITEM_PATHS } from './scene.ts';

/** A statement that is wrong: about an operation, or about the whole after some groups of steps. */
export interface Statement {
  readonly operation: OperationId;
  readonly aspect: Aspect;
  /** The groups of steps one of which has changed what it must not change. */
  readonly after?: string;
}

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
  readonly differences: readonly FoundDifference[];
  readonly reason?: string | undefined;
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

const isCount = ({ found, emulator }: Difference) => [found, emulator].every((text) => /^\d+(?: items)?$/.test(text));

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
      into.add(`${self}|${name}`);
      mentionedIn(value, self, into);
    }
  }
  return into;
}

/** What is known to be wrong: by thing and field, and by the operation that has created things. */
class KnownDefects {
  readonly #byThing = new Map<string, Statement>();
  readonly #byOperation = new Map<string, Statement>();

  add(operations: readonly OperationId[], request: RecordedRequest, difference: Difference, cause: Statement): void {
    const { thing, field } = symptomOf(request, difference);
    if (difference.kind === 'leak') return;
    if (!this.#byThing.has(`${thing}|${field}`)) this.#byThing.set(`${thing}|${field}`, cause);
    for (const operation of operations) {
      const name = `${operation}|${field}`;
      if (!this.#byOperation.has(name)) this.#byOperation.set(name, cause);
    }
  }

  /** Returns what explains a difference in a thing, or in what the operations have created. */
  find(request: RecordedRequest, difference: Difference, creators: readonly OperationId[] = []): Statement | undefined {
    if (difference.kind === 'leak') return undefined;
    const { thing, field } = symptomOf(request, difference);
    const ofThing = this.#byThing.get(`${thing}|${field}`) ?? this.#byThing.get(`${thing}|${PRESENCE}`);
    if (ofThing) return ofThing;
    const isDerived = isCount(difference) || difference.kind === 'order' || field === PRESENCE;
    for (const creator of creators) {
      const name = `${creator}|${field}`;
      // A wrong mark of a message changes folders and counts too.
      const isMark = isDerived && creator === 'updateMessage';
      const marks = isMark ? ['isRead', 'isStarred', 'isArchived'].map((mark) => `${creator}|${mark}`) : [];
      const presence = isDerived ? [`${creator}|${PRESENCE}`] : [];
      const found = [name, ...presence, ...marks].map((each) => this.#byOperation.get(each)).find(Boolean);
      if (found) return found;
    }
    return undefined;
  }
}

/** Finds the statement that is wrong for each difference. */
export function attributeDifferences(compared: readonly Compared[]): void {
  const defects = new KnownDefects();
  const attribute = (request: RecordedRequest, difference: FoundDifference, cause: Statement) => {
    difference.cause = cause;
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
  const seenBefore = new Map<string, ReadonlyMap<string, Statement>>();
  /** The effects on what exists, by the group and the path of the things. */
  const undeleted = new Map<string, Statement>();
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
    for (const each of readings) {
      const before = seenBefore.get(readKey(each.request));
      for (const difference of each.differences) {
        const known =
          before?.get(`${difference.owner} ${difference.at}`) ??
          defects.find(each.request, difference, creatorsOf(each.request.operation)) ??
          refused;
        if (known) {
          attribute(each.request, difference, known);
          if (known.operation === operation && known.aspect !== 'items') effect ??= known;
        } else fresh.push([each, difference]);
      }
    }
    // What counts things is wrong if the things are, so it comes last.
    const bySymptom = new Map<string, (readonly [Compared, FoundDifference])[]>();
    for (const entry of fresh.toSorted(([, a], [, b]) => Number(isCount(a)) - Number(isCount(b)))) {
      const { thing, field } = symptomOf(entry[0].request, entry[1]);
      bySymptom.set(`${thing}|${field}`, [...(bySymptom.get(`${thing}|${field}`) ?? []), entry]);
    }
    const isOfDeletedKey = of.group === 'deleted keys';
    const accepting = new Set(fresh.map(([{ request }]) => request.operation));
    for (const [symptom, entries] of bySymptom) {
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
          /^(?:deleted keys|\w+ with the new key)/.test(of.group) && acceptsAnyKey(request.operation);
        const changes: Statement = { operation, aspect: 'effect' };
        const cause: Statement = isOfOperation
          ? { operation: request.operation, aspect: 'tiers' }
          : isOfDeletedKey && accepting.size < MANY_OPERATIONS
            ? { operation: request.operation, aspect: 'key forms' }
            : isCount(difference) && effect
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
      const causes = differences.flatMap(({ owner, at, cause }) => (cause ? [[`${owner} ${at}`, cause] as const] : []));
      seenBefore.set(readKey(request), new Map(causes));
    }
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
        const creators = aspect === 'input' ? [] : creatorsOf(operation);
        cause = defects.find(request, difference, creators);
        if (aspect !== 'items') cause ??= ofReplies.get(replyKey(operation, difference));
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
        const known =
          before?.get(`${difference.owner} ${difference.at}`) ??
          defects.find(request, difference, creatorsOf(request.operation)) ??
          ofReplies.get(replyKey(request.operation, difference)) ??
          notRefused;
        const changed = {
          operation: step.operation,
          aspect: 'effect',
          after: step.group.slice(WHOLE.length + 1),
        } as const;
        attribute(request, difference, known ?? changed);
      }
      const causes = differences.flatMap(({ owner, at, cause }) => (cause ? [[`${owner} ${at}`, cause] as const] : []));
      seenBefore.set(readKey(request), new Map(causes));
    }
  }
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

/** The operations that have created what an operation reads or changes, and what it counts. */
export function creatorsOf(id: OperationId): OperationId[] {
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
