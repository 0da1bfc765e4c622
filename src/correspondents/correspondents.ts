import { createSilentReader } from '../contract/behaviour-reader.ts';
import type { BehaviourValues } from '../contract/behaviours.ts';
import { toBareAddress } from '../contract/email-address.ts';
import type { EventBus } from '../events/event-bus.ts';
import { acceptMessage } from '../mail/accept-message.ts';
import { checkRoom, sizeOfMail } from '../mail/check-room.ts';
import { isHeld } from '../mail/is-held.ts';
import type { LoopGuard } from '../mail/loop-guard.ts';
import type { MailContext, OutsideAddresses } from '../mail/mail-context.ts';
import { createTrace } from '../mail/mime/trace.ts';
import { type IncomingMail, receiveMail } from '../mail/receive-mail.ts';
import { findRoute } from '../mail/route.ts';
import { type Mail, showMail } from '../mail/show-mail.ts';
import type { MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import { type Answer, composeAnswers } from './compose-answers.ts';
import { CorrespondentError } from './correspondent-error.ts';
import { acceptMail, type Entry, type Turn } from './entry.ts';

/** The parts of a mailbox that the correspondents need. */
interface Context {
  readonly worlds: Worlds;
  readonly events: EventBus;
  readonly behaviours: BehaviourValues;
  readonly loops: LoopGuard;
}

/** An answer that is due later. */
interface Pending {
  readonly entryId: string;
  readonly tenantId: string;
  readonly dueMs: number;
  readonly mail: Mail;
  readonly turn: Turn;
}

/** The correspondents at one moment, with the answers that are due later. */
export interface SavedCorrespondents {
  readonly entries: readonly Entry[];
  readonly pending: readonly Pending[];
}

/** The correspondents of a mailbox, and their answers that are due. */
export class Correspondents implements OutsideAddresses {
  readonly #context: Context;
  /** By id, oldest first. */
  readonly #entries = new Map<string, Entry>();
  /** Each answer that is due later, with the function that cancels it. */
  readonly #pending = new Map<Pending, () => void>();
  /** Each answer that is being written or delivered, with the address of its correspondent. */
  readonly #writing = new Map<Pending, string>();

  constructor(context: Context) {
    this.#context = context;
    context.worlds.onRemoved(({ id }) => this.forget(id));
  }

  /** Returns every correspondent, oldest first, or only those that are bound to one tenant. */
  list(tenantId?: string): Entry[] {
    const entries = [...this.#entries.values()];
    return tenantId === undefined ? entries : entries.filter(({ shown }) => shown.tenantId === tenantId);
  }

  add(entry: Entry): void {
    this.#entries.set(entry.shown.id, entry);
  }

  /** Removes a correspondent, with the answers that are due later. */
  remove(id: string): void {
    this.#entries.delete(id);
    this.#cancel(({ entryId }) => entryId === id);
  }

  /** Removes every correspondent, or only those of one tenant. */
  clear(tenantId?: string): void {
    for (const { shown } of this.list(tenantId)) this.remove(shown.id);
  }

  /** Removes the correspondents of a tenant, and every answer to it that is due later. */
  forget(tenantId: string): void {
    this.clear(tenantId);
    this.#cancel((pending) => pending.tenantId === tenantId);
  }

  /** Returns every correspondent with the answers that are due later, or only those of one tenant. */
  save(tenantId?: string): SavedCorrespondents {
    const pending = [...this.#pending.keys()];
    return {
      entries: this.list(tenantId),
      pending: tenantId === undefined ? pending : pending.filter((each) => each.tenantId === tenantId),
    };
  }

  /** Replaces what `save` returned, all of it or only that of one tenant. The clocks must have been restored before. */
  restore({ entries, pending }: SavedCorrespondents, tenantId?: string): void {
    if (tenantId === undefined) this.clear();
    else this.forget(tenantId);
    for (const entry of entries) this.add(entry);
    for (const each of pending) this.#schedule(each);
  }

  /** Returns the addresses of the correspondents that are writing to a tenant. */
  writingTo(tenantId: string): string[] {
    return [...this.#writing].flatMap(([pending, address]) => (pending.tenantId === tenantId ? [address] : []));
  }

  has(address: string, tenantId?: string): boolean {
    return this.#find(address, tenantId) !== undefined;
  }

  receive(world: World, message: MessageRow, address: string): void {
    this.#accept(world, showMail(world, message), address);
  }

  /** Finds who reads the mail of a tenant to an address: one of this tenant, or else one of any. */
  #find(address: string, tenantId?: string): Entry | undefined {
    if (this.#entries.size === 0) return undefined;
    const entries = this.list().filter((entry) => entry.address === address);
    const owned = entries.find(({ shown }) => shown.tenantId === tenantId);
    return owned ?? entries.find(({ shown }) => shown.tenantId === null || tenantId === undefined);
  }

  #accept(world: World, mail: Mail, address: string): void {
    const found = this.#find(address, world.id);
    if (!found) return;
    const { entry, turn } = acceptMail(found, mail);
    this.#entries.set(entry.shown.id, entry);
    const dueMs = world.clock.now().getTime() + entry.shown.afterMs;
    if (turn) this.#schedule({ entryId: entry.shown.id, tenantId: world.id, dueMs, mail, turn });
  }

  #schedule(pending: Pending): void {
    const world = this.#context.worlds.get(pending.tenantId);
    if (!world) return;
    const cancel = world.clock.schedule(new Date(pending.dueMs), () => this.#answer(world, pending));
    this.#pending.set(pending, cancel);
  }

  #cancel(isMeant: (pending: Pending) => boolean): void {
    for (const [pending, cancel] of this.#pending) {
      if (!isMeant(pending)) continue;
      cancel();
      this.#pending.delete(pending);
    }
  }

  async #answer(world: World, pending: Pending): Promise<void> {
    const entry = this.#entries.get(pending.entryId);
    if (!entry || !this.#pending.delete(pending)) return;
    const { resets } = world.clock;
    this.#writing.set(pending, entry.address);
    try {
      const answers = await composeAnswers({ entry, environment: world.environment, ...pending });
      // The function of the correspondent may take its time, and a reset ends everything.
      if (world.clock.resets !== resets) return;
      for (const answer of answers) await this.#deliver(world, pending.mail, entry, answer);
    } catch (error) {
      world.clock.reportFailure('an answer', new CorrespondentError(entry.address, error));
    } finally {
      this.#writing.delete(pending);
    }
  }

  /** Delivers an answer to an inbox or to a correspondent. Mail to anybody else leaves the emulator. */
  async #deliver(world: World, cause: Mail, { address: from }: Entry, answer: Answer): Promise<void> {
    const context = this.#contextFor(world);
    const route = findRoute(context, toBareAddress(answer.to), world.id);
    if (route.kind === 'bounced' || route.kind === 'external') return;
    const { subject, messageIdHeader } = 'mail' in answer ? answer.mail : { ...cause, subject: 'a delivery report' };
    if (isHeld(context, world, { from, subject, messageIdHeader }, route)) return;
    if ('eml' in answer) {
      await acceptMessage(context, { eml: answer.eml, to: answer.to, envelopeFrom: answer.envelopeFrom });
      return;
    }
    const mail = withTrace(answer.mail, answer, world);
    if (route.kind === 'correspondent') this.#accept(world, toMail(cause, mail, world), route.address);
    else {
      checkRoom(context, sizeOfMail(mail));
      receiveMail(context, route.inbox, mail);
    }
  }

  #contextFor(world: World): MailContext {
    const { worlds, events, loops, behaviours } = this.#context;
    const reader = createSilentReader(behaviours);
    return { worlds: worlds.reachableFrom(world), events, loops, correspondents: this, ...reader };
  }
}

/** Adds the trace that mail from outside has. */
function withTrace(mail: IncomingMail, { to, envelopeFrom }: Answer, { clock }: World): IncomingMail {
  const trace = createTrace(
    { from: envelopeFrom, to: toBareAddress(to), auth: {} },
    toBareAddress(mail.from),
    clock.now(),
  );
  return { ...mail, headers: { ...trace, ...mail.headers } };
}

/** Shows a mail from one correspondent to another, which no inbox has. */
function toMail(
  cause: Mail,
  { raw: _, references, headers, attachments: _files, ...mail }: IncomingMail,
  world: World,
): Mail {
  const named = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...cause,
    ...mail,
    receivedAt: world.clock.now().toISOString(),
    headers: { ...Object.fromEntries(named), references: references.join(' '), 'in-reply-to': mail.inReplyTo ?? '' },
  };
}
