import { fillPath } from '../basics/fill-path.ts';
import { OPERATIONS, type OperationId } from '../contract/operations.ts';
import { type Reply, VerifyError, type VerifySession } from './verify-session.ts';

/** Values of path parameters, by the name of the parameter. */
export type PathValues = Readonly<Record<string, string | undefined>>;

/** A key with the role that it plays in the run, which is printed in its place. */
export interface RoleKey {
  readonly role: string;
  readonly text: string;
}

/** Which statement about an operation a request checks. */
export type Aspect = 'reply' | 'effect' | 'items' | 'isolation' | 'tiers' | 'old key';

/** What a request is for. */
export interface Asked {
  readonly aspect: Aspect;
  readonly key: RoleKey;
  readonly values?: PathValues | undefined;
  readonly query?: string;
  /** The query without ids, if it has any. */
  readonly filter?: string;
  readonly body?: unknown;
  /** A word that tells apart requests that are otherwise the same. */
  readonly note?: string;
  /** If the request reads back the effect of another operation: this operation, the object, and the step. */
  readonly of?: { readonly operation: OperationId; readonly object: string; readonly step: number } | undefined;
  /** Why the request is not sent, if a value of its path is missing. */
  readonly missing?: string | undefined;
  /** Reduces the reply to what is compared, such as one item of a list. */
  readonly pick?: (body: Reply['body']) => unknown;
  readonly hasOthersItems?: boolean;
  readonly ignored?: readonly string[];
}

/** A request of a run with its reply, or with the reason why there is none. */
export interface Exchange extends Omit<Asked, 'pick' | 'body' | 'values'> {
  readonly label: string;
  readonly operation: OperationId;
  readonly reply?: Reply;
  readonly reason?: string;
}

/** An observation that has no reply, such as the deliveries that a webhook got. */
export interface Noted {
  readonly label: string;
  readonly operation: OperationId;
  readonly value?: unknown;
  readonly reason?: string;
}

const METHODS_WITH_BODY = ['POST', 'PATCH'];

/** Sends the requests of a sequence to one target, and keeps each reply under a label, which is the same on each target. */
export class Recording {
  readonly exchanges = new Map<string, Exchange>();
  readonly notes = new Map<string, Noted>();
  /** What the run has created, in order: the values with a role that is printed. */
  readonly roles = new Map<string, string>();
  readonly session: VerifySession;
  /** The current part of the sequence, which is a part of each label. */
  part = '';

  constructor(session: VerifySession) {
    this.session = session;
  }

  /** Names the role of a value. Returns the value. */
  name<Value>(value: Value, role: string): Value {
    if (typeof value === 'string') this.roles.set(role, value);
    return value;
  }

  /** Sends a request, and returns the body of a success; `undefined` if there was none. */
  async ask(operation: OperationId, asked: Asked): Promise<Reply['body'] | undefined> {
    const { key, values = {}, query = '', body, note = '', pick, ...rest } = asked;
    const { method, path } = OPERATIONS[operation];
    const label = this.#newLabel(
      [this.part, operation, asked.aspect, key.role, asked.filter ?? query, note].filter(Boolean).join(' · '),
    );
    const record = (result: Pick<Exchange, 'reply' | 'reason'>) =>
      this.exchanges.set(label, { ...rest, key, query, note, label, operation, ...result });
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
    if (names.some((name) => values[name] === undefined)) {
      record({ reason: asked.missing ?? 'what the request is about could not be created' });
      return undefined;
    }
    const sent = METHODS_WITH_BODY.includes(method) ? (body ?? {}) : undefined;
    try {
      const filled = fillPath(path, (name) => String(values[name]), refuseParameter);
      const reply = await this.session.call(method, filled + query, sent, { key: key.text });
      const isSuccess = reply.status >= 200 && reply.status < 300;
      record({ reply: pick && isSuccess ? { ...reply, body: pick(reply.body) } : reply });
      return isSuccess ? reply.body : undefined;
    } catch (error) {
      if (!(error instanceof VerifyError) || error.endsRun) throw error;
      record({ reason: error.message });
      return undefined;
    }
  }

  /** Keeps an observation. If `observe` throws, the reason is kept. */
  async note(label: string, operation: OperationId, observe: () => Promise<unknown>): Promise<void> {
    try {
      this.notes.set(label, { label, operation, value: await observe() });
    } catch (error) {
      if (error instanceof VerifyError && error.endsRun) throw error;
      const reason = error instanceof VerifyError ? error.message : 'a reply did not have the expected form';
      this.notes.set(label, { label, operation, reason });
    }
  }

  #newLabel(label: string, count = 1): string {
    const counted = count === 1 ? label : `${label} · ${count}`;
    return this.exchanges.has(counted) ? this.#newLabel(label, count + 1) : counted;
  }
}

function refuseParameter(name: string, problem: string): VerifyError {
  return new VerifyError(`the ${name} that the server replied with ${problem}`);
}
