import type { Mailbox, MailboxState, TenantState } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import type { ReadBehaviour } from '../../../src/contract/behaviours.ts';
import { tiersOf } from '../../../src/contract/operation.ts';
import { OPERATIONS, type OperationId } from '../../../src/contract/operations.ts';
import type { Reply, SendOptions, Service } from '../everywhere.ts';
import { expectNothingForeign, expectUntouchedNeighbours } from './neighbours.ts';
import type { Tree } from './tree.ts';

/** Where a thing is; what is missing is not below any. */
export interface Place {
  readonly tenantId?: string;
  readonly workspaceId?: string | null;
  readonly inboxId?: string;
}

/** The caller. */
interface Caller {
  readonly tier: 'operator' | TenantState['apiKeys'][number]['tier'];
  readonly key: string;
  readonly ownerId?: string;
  readonly tenantId?: string;
}

interface Call extends Pick<SendOptions, 'json' | 'query'> {
  readonly params?: Readonly<Record<string, string>>;
  /** The statuses that a caller with access to the place may get. */
  readonly expected: readonly number[];
}

/** One run of a command: it chooses, calls, and applies the expected change to the model. */
export class Turn {
  readonly #chances: number[];

  constructor(
    readonly tree: Tree,
    readonly start: Tree,
    readonly journal: string[],
    readonly service: Pick<Service, 'mailbox' | 'send'>,
    chances: readonly number[],
  ) {
    this.#chances = [...chances];
    this.state = service.mailbox.snapshot();
  }

  /** The state before the call, and after it. */
  state: MailboxState;

  /** Picks an item; `undefined` if there is none. */
  pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.chance() % items.length];
  }

  chance(): number {
    return this.#chances.shift() ?? 0;
  }

  /**
   * Calls an operation, mostly with a key that reaches the place, at times with any other.
   * Returns the reply if it succeeded. A refused call changes nothing, so the model stays as it is.
   */
  async call(operation: OperationId, place: Place, { expected, ...call }: Call): Promise<Reply | undefined> {
    const before = this.state;
    const caller = this.#chooseCaller(operation, place);
    if (!caller) return undefined;
    const reply = await this.#send(operation, caller, call);
    this.journal.push(`${operation} by ${caller.key} ${JSON.stringify(call)}: ${reply.status}`);
    this.state = this.service.mailbox.snapshot();
    if (mayDo(this.service.mailbox, operation, caller, place)) expect(expected).toContain(reply.status);
    else if (reply.status < 400) expect(caller.tenantId).toBe(place.tenantId);
    expectNothingForeign(reply, caller.tenantId, before);
    expectUntouchedNeighbours(caller.tenantId ?? place.tenantId ?? reply.json?.id, before, this.state);
    return reply.status < 400 ? reply : undefined;
  }

  #chooseCaller(operation: OperationId, place: Place): Caller | undefined {
    const callers = callersOf(this.state);
    // Where the path has no id, a stranger would do it to what is its own.
    const isStranger = /\{(?!domain)/.test(OPERATIONS[operation].path) && this.chance() % 6 === 0;
    return this.pick(callers.filter((caller) => isStranger || mayDo(this.service.mailbox, operation, caller, place)));
  }

  #send(operation: OperationId, { key }: Caller, { params = {}, ...rest }: Omit<Call, 'expected'>): Promise<Reply> {
    const { method, path } = OPERATIONS[operation];
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''));
    return this.service.send(method, filled, { key, ...rest });
  }
}

function callersOf({ operatorKeys, tenants }: MailboxState): Caller[] {
  return [
    ...operatorKeys.map((key) => ({ tier: 'operator' as const, key })),
    ...tenants.flatMap(({ id, apiKeys }) => apiKeys.map((row) => ({ ...row, tenantId: id }))),
  ];
}

/** Returns whether a caller may do this there: its tier may, and the place is its own or below it. */
function mayDo(
  mailbox: Pick<Mailbox, 'behaviours'>,
  operation: OperationId,
  { tier, ownerId }: Caller,
  { tenantId, workspaceId, inboxId }: Place,
): boolean {
  const row = OPERATIONS[operation];
  const readBehaviour: ReadBehaviour = (id) => mailbox.behaviours[id];
  if (!tiersOf(row, readBehaviour).some((each) => each === tier)) return false;
  return tier === 'operator' || [tenantId, workspaceId, inboxId].includes(ownerId);
}
