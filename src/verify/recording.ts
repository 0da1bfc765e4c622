import { fillPath } from '../basics/fill-path.ts';
import { OPERATIONS, type OperationId } from '../contract/operations.ts';
import { NOT_REACHED, type Reason, type Reply, VerifyError, type VerifySession } from './verify-session.ts';

/** Values of path parameters, by the name of the parameter. */
export type PathValues = Readonly<Record<string, string | undefined>>;

/** A key with the role that it plays in the run, which is printed in its place. */
export interface RoleKey {
  readonly role: string;
  readonly text: string;
}

/** Which statement about an operation a request checks. */
export type Aspect = 'reply' | 'effect' | 'items' | 'input' | 'isolation' | 'tiers' | 'old key' | 'key forms';

/** A step of a group: an operation that may change something, with everything that is read after it. */
export interface Step {
  readonly operation: OperationId;
  /** The group of steps, which has things of its own. */
  readonly group: string;
  /** The number of the step in its group. */
  readonly step: number;
}

/** What a request is for. */
export interface Asked {
  readonly aspect: Aspect;
  readonly key: RoleKey;
  readonly values?: PathValues | undefined;
  readonly query?: string;
  /** The query without ids, if it has any. */
  readonly filter?: string;
  readonly body?: unknown;
  /** The method, if it is not that of the operation: HEAD or OPTIONS. */
  readonly method?: 'HEAD' | 'OPTIONS';
  /** How the key is sent. Default: in the header `X-API-Key`. */
  readonly door?: Door;
  /** A word that tells apart requests that are otherwise the same. */
  readonly note?: string;
  /** The step that the request is, or after which it reads. */
  readonly of?: Step | undefined;
  /** Why the request is not sent, such as a value that it needs and that is missing. */
  readonly missing?: Reason | undefined;
  /** Reduces the reply to what is compared, such as one item of a list. */
  readonly pick?: (body: Reply['body']) => unknown;
  readonly hasOthersItems?: boolean;
  readonly ignored?: readonly string[];
  /** Whether a list may have any order. */
  readonly ignoresOrder?: boolean;
}

/** The ways in which a client can send a key. */
export type Door = 'X-API-Key' | 'Bearer' | 'query';

/** A request of a run with its reply, or with the reason why there is none. */
export interface RecordedRequest extends Omit<Asked, 'pick' | 'body' | 'values'> {
  readonly label: string;
  readonly operation: OperationId;
  /** The path that was sent, with its query. */
  readonly path?: string;
  /** The thing that the path leads to: the value of its last parameter. */
  readonly thing?: string | undefined;
  /** The body that was sent. */
  readonly sent?: unknown;
  /** When it was sent, in milliseconds since 1970. */
  readonly sentMs?: number;
  readonly reply?: Reply;
  /** The reply to a request that was sent twice: it is not compared, but what it has created is used. */
  readonly replyToSecond?: Reply;
  readonly reason?: Reason;
}

/** An observation that has no reply, such as the deliveries that a webhook got. */
export interface Noted {
  readonly label: string;
  readonly operation: OperationId;
  readonly value?: unknown;
  readonly reason?: Reason;
}

/** The recording of a run that ended before everything was compared. */
export interface EndedRecording {
  readonly recording: Recording;
  readonly reason: Reason;
}

/** Why a request is not sent that is about something which the run could not create. */
export const NOT_CREATED: Reason = { message: 'what the request is about could not be created' };

/** Why an observation has no result that is an error of the run itself: it reads what the server sends. */
export const UNEXPECTED_FORM: Reason = { message: 'a reply did not have the expected form' };

const METHODS_WITH_BODY = ['POST', 'PATCH'];

/** How many requests that change nothing are sent at the same time. */
const PARALLEL = 6;

/** Sends the requests of a sequence to one target, and keeps each reply under a label, which is the same on each target. */
export class Recording {
  readonly requests = new Map<string, RecordedRequest>();
  readonly notes = new Map<string, Noted>();
  /** What the run has created, in order: the values with a role that is printed. */
  readonly roles = new Map<string, string>();
  /** The roles of values that are only printed: which value of the other target is the same, the replies say. */
  readonly printedRoles = new Set<string>();
  readonly session: VerifySession;
  /** The numbers of the checkpoints at which the whole was read: the other target is read at the same. */
  readonly checkpoints = new Set<number>();
  /** The current part of the sequence, which is a part of each label. */
  part = '';

  /** What was sent to the other target before its run ended early, and why it did: nothing else is sent to this one. */
  readonly #ended: EndedRecording | undefined;

  constructor(session: VerifySession, ended?: EndedRecording) {
    this.session = session;
    this.#ended = ended;
  }

  /** Names the role of a value. Returns the value. */
  name<Value>(value: Value, role: string): Value {
    if (typeof value === 'string') this.roles.set(role, value);
    return value;
  }

  /** Names the role of a value, such as a thread, which a later step may show wrongly and an earlier one rightly. */
  describe(value: unknown, role: string): void {
    this.name(value, role);
    this.printedRoles.add(role);
  }

  /** Sends a request, and returns the body of a success; `undefined` if there was none. */
  async ask(operation: OperationId, asked: Asked): Promise<Reply['body'] | undefined> {
    const { key, values = {}, query = '', body, note = '', pick, ...rest } = asked;
    const row = OPERATIONS[operation];
    const method = asked.method ?? row.method;
    const words = [this.part, asked.method, operation, asked.aspect, key.role, asked.filter ?? query, asked.door, note];
    const label = this.#newLabel(words.filter(Boolean).join(' · '));
    const sent = METHODS_WITH_BODY.includes(method) ? (body ?? {}) : undefined;
    const names = Array.from(row.path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
    const request = { ...rest, key, query, note, label, operation, thing: values[names.at(-1) ?? ''] };
    // The label is taken at once, so that requests that are sent at the same time are kept in the same order.
    this.requests.set(label, { ...request, reason: NOT_REACHED });
    if (this.#ended && !this.#ended.recording.requests.has(label)) {
      this.requests.set(label, { ...request, reason: this.#ended.reason });
      return undefined;
    }
    if (asked.missing !== undefined || names.some((name) => values[name] === undefined)) {
      const reason = asked.missing ?? NOT_CREATED;
      this.requests.set(label, { ...request, reason });
      return undefined;
    }
    try {
      const path = fillPath(row.path, (name) => String(values[name]), refuseParameter) + query;
      const sentMs = Date.now();
      const through = throughDoor(asked.door, path, key.text);
      const reply = await this.session.call(method, through.path, sent, through);
      const isSuccess = reply.status >= 200 && reply.status < 300;
      if (reply.wasSentTwice) {
        const reason = { message: 'its connection was closed once, and it was sent again' };
        this.requests.set(label, { ...request, replyToSecond: reply, reason });
        return isSuccess ? reply.body : undefined;
      }
      const shown = pick && isSuccess ? { ...reply, body: pick(reply.body) } : reply;
      this.requests.set(label, { ...request, path, sent, sentMs, reply: shown });
      return isSuccess ? reply.body : undefined;
    } catch (error) {
      if (!(error instanceof VerifyError) || error.endsRun) throw error;
      this.requests.set(label, { ...request, reason: error });
      return undefined;
    }
  }

  /** Sends requests that change nothing, several at the same time. */
  async askAll(
    asked: readonly (readonly [operation: OperationId, asked: Asked])[],
    atOnce: number = PARALLEL,
  ): Promise<void> {
    const waiting = [...asked];
    const send = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await this.ask(...next);
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, waiting.length) }, send));
  }

  /** Keeps an observation. If `observe` throws, the reason is kept. */
  async note(label: string, operation: OperationId, observe: () => Promise<unknown>): Promise<void> {
    if (this.#ended && !this.#ended.recording.notes.has(label)) {
      this.notes.set(label, { label, operation, reason: this.#ended.reason });
      return;
    }
    try {
      this.notes.set(label, { label, operation, value: await observe() });
    } catch (error) {
      if (error instanceof VerifyError && error.endsRun) throw error;
      const reason = error instanceof VerifyError ? error : UNEXPECTED_FORM;
      this.notes.set(label, { label, operation, reason });
    }
  }

  #newLabel(label: string, count = 1): string {
    const counted = count === 1 ? label : `${label} · ${count}`;
    return this.requests.has(counted) ? this.#newLabel(label, count + 1) : counted;
  }
}

/** The path and the headers of a request that sends the key in one of the ways that clients have. */
function throughDoor(door: Door = 'X-API-Key', path: string, key: string) {
  if (door === 'X-API-Key') return { path, key, headers: {} };
  if (door === 'Bearer') return { path, key: '', headers: { Authorization: `Bearer ${key}` } };
  const separator = path.includes('?') ? '&' : '?';
  return { path: `${path}${separator}api_key=${encodeURIComponent(key)}`, key: '', headers: {} };
}

function refuseParameter(name: string, problem: string): VerifyError {
  return new VerifyError(`the ${name} that the server replied with ${problem}`);
}
