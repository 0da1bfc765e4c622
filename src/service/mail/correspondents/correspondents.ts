import { toAddressKey, toBareAddress } from '../../../contract/addresses/email-address.ts';
import type { BehaviourValues } from '../../../contract/behaviours.ts';
import type { Clock } from '../../../world/clock.ts';
import { findOwner, type Part, type PartOf, type SavePurpose } from '../../../world/store/parts.ts';
import type { ReachableWorlds } from '../../../world/store/reachable-worlds.ts';
import { type MessageRow, pick } from '../../../world/store/rows.ts';
import type { World } from '../../../world/store/world.ts';
import type { Worlds } from '../../../world/store/worlds.ts';
import type { Journals } from '../../journal/journals.ts';
import { acceptMessage, receiveMail } from '../incoming/accept-message.ts';
import type { IncomingMail } from '../incoming/parse-eml.ts';
import { createTrace } from '../mime/header.ts';
import type { LoopGuard } from '../outgoing/loop-guard.ts';
import { holdIfLoop } from '../outgoing/send.ts';
import { findRoute } from '../route.ts';
import { type Mail, showMail } from '../show-mail.ts';
import { checkRoom, mailContextOf, type OutsideAddresses, sizeOfMail } from '../store-message.ts';
import { type Answer, acceptMail, composeAnswers, type Entry, type Turn } from './answers.ts';
import { type Correspondent, CorrespondentError } from './correspondent.ts';

/** The parts of a mailbox that the correspondents need. */
interface Context {
  readonly worlds: Worlds;
  readonly journals: Journals;
  readonly behaviours: BehaviourValues;
  readonly loops: LoopGuard;
}

/** An answer that is due later. */
interface DueAnswer {
  readonly entryId: string;
  readonly dueMs: number;
  readonly mail: Mail;
  readonly turn: Turn;
}

/** A correspondent, and its place in the order in which the correspondents of the mailbox were added. */
interface OrderedEntry {
  readonly entry: Entry;
  readonly order: number;
}

/** The correspondents that are bound to one tenant, or all correspondents that are bound to no tenant. */
class CorrespondentList implements Part {
  /** The correspondents, by id. */
  readonly entries = new Map<string, OrderedEntry>();

  /** `latest` is the highest order of the correspondents of all lists. */
  constructor(readonly latest: { order: number }) {}

  add(entry: Entry): void {
    this.latest.order += 1;
    this.entries.set(entry.shown.id, { entry, order: this.latest.order });
  }

  end(): void {}

  /** For a file, returns only the correspondents that answer without a function, because JSON cannot store one. */
  save(purpose: SavePurpose): OrderedEntry[] {
    const entries = [...this.entries.values()];
    return purpose === 'file' ? entries.filter(({ entry }) => entry.write === undefined) : entries;
  }

  restore(saved: readonly OrderedEntry[]): void {
    for (const ordered of saved) {
      this.entries.set(ordered.entry.shown.id, ordered);
      this.latest.order = Math.max(this.latest.order, ordered.order);
    }
  }
}

/** The answers that are due later, for one tenant. */
class DueAnswers implements Part {
  /** The function that cancels each answer. */
  readonly #cancelFunctions = new Map<DueAnswer, () => void>();

  constructor(
    readonly clock: Clock,
    readonly send: (answer: DueAnswer) => Promise<void>,
  ) {}

  add(answer: DueAnswer): void {
    const cancel = this.clock.schedule(new Date(answer.dueMs), async () => {
      if (this.#cancelFunctions.delete(answer)) await this.send(answer);
    });
    this.#cancelFunctions.set(answer, cancel);
  }

  /** Cancels the answers of one correspondent, or all answers. */
  cancel(entryId?: string): void {
    for (const [answer, cancel] of this.#cancelFunctions) {
      if (entryId !== undefined && answer.entryId !== entryId) continue;
      cancel();
      this.#cancelFunctions.delete(answer);
    }
  }

  end(): void {
    this.cancel();
  }

  save(): DueAnswer[] {
    return [...this.#cancelFunctions.keys()];
  }

  restore(saved: readonly DueAnswer[]): void {
    for (const answer of saved) this.add(answer);
  }
}

/** The correspondents of a mailbox, and their answers that are due later. */
export class Correspondents implements OutsideAddresses {
  readonly #listOf: PartOf<CorrespondentList>;
  readonly #dueAnswersTo: PartOf<DueAnswers, World>;
  /** Each answer that is being written or delivered: the address of its correspondent, and the tenant that gets it. */
  readonly #writing = new Set<{ readonly world: World; readonly address: string }>();

  constructor(readonly context: Context) {
    const latest = { order: 0 };
    this.#listOf = context.worlds.addPart('correspondents', () => new CorrespondentList(latest));
    this.#dueAnswersTo = context.worlds.addPart('answers', (world: World) => {
      return new DueAnswers(world.clock, (dueAnswer) => this.#send(world, dueAnswer));
    });
  }

  /** Returns every correspondent, oldest first. For a sandbox, returns only the correspondents that are bound to it. */
  list(worlds: ReachableWorlds = this.context.worlds): Entry[] {
    const all = this.#listOf.in(worlds.owners()).flatMap(({ entries }) => [...entries.values()]);
    return all.sort((a, b) => a.order - b.order).map(({ entry }) => entry);
  }

  /** Returns the correspondents that are bound to the tenant with this id or, if the id is null, to no tenant. */
  listWith(tenantId: string | null): Entry[] {
    return Array.from(this.#listOf(findOwner(this.context.worlds, tenantId)).entries.values(), ({ entry }) => entry);
  }

  /** Returns the answers of all correspondents that are due later. */
  due(): DueAnswer[] {
    return this.#dueAnswersTo.in(this.context.worlds.all()).flatMap((answers) => answers.save());
  }

  /** Returns a correspondent as users see it, with those answers of `due` that are from this correspondent. */
  show({ shown }: Entry, due: readonly DueAnswer[] = this.due()): Correspondent {
    const own = due.filter(({ entryId }) => entryId === shown.id).sort((a, b) => a.dueMs - b.dueMs);
    return structuredClone({
      ...shown,
      due: own.map(({ dueMs, mail }) => {
        const at = new Date(dueMs).toISOString();
        return { ...pick(mail, ['subject', 'tenantId']), to: toBareAddress(mail.from), at };
      }),
    });
  }

  add(entry: Entry): void {
    this.#findList(entry).add(entry);
  }

  /** Removes a correspondent, and cancels its answers that are due later. */
  remove(entry: Entry): void {
    const { id } = entry.shown;
    this.#findList(entry).entries.delete(id);
    for (const answers of this.#dueAnswersTo.in(this.context.worlds.all())) answers.cancel(id);
  }

  /** Returns the addresses of the correspondents that are writing to a tenant. */
  addressesOfWriters(world: World): string[] {
    return [...this.#writing].flatMap((each) => (each.world === world ? [each.address] : []));
  }

  has(address: string, world: World): boolean {
    return this.#find(address, world) !== undefined;
  }

  receive(world: World, message: MessageRow, address: string): void {
    this.#accept(world, showMail(world, message), address);
  }

  /** Finds the list for a correspondent: the list of its tenant, or the list without a tenant. */
  #findList({ shown }: Entry): CorrespondentList {
    return this.#listOf(findOwner(this.context.worlds, shown.tenantId));
  }

  /** Finds the correspondent with an address: first among those of this tenant, then among those without a tenant. */
  #find(address: string, world: World): Entry | undefined {
    const entries = this.#listOf.in([world, this.context.worlds]).flatMap((list) => [...list.entries.values()]);
    return entries.find(({ entry }) => entry.address === address)?.entry;
  }

  #accept(world: World, mail: Mail, address: string): void {
    const found = this.#find(address, world);
    if (!found) return;
    const { entry, turn } = acceptMail(found, mail);
    const { id, afterMs } = entry.shown;
    const { entries } = this.#findList(entry);
    entries.set(id, { entry, order: entries.get(id)?.order ?? 0 });
    const heard = { address, messageIdHeader: mail.messageIdHeader, willAnswer: turn !== undefined };
    this.context.journals.publish(world, 'correspondent', heard);
    if (turn) this.#dueAnswersTo(world).add({ entryId: id, dueMs: world.clock.now().getTime() + afterMs, mail, turn });
  }

  async #send(world: World, dueAnswer: DueAnswer): Promise<void> {
    const lists = this.#listOf.in([world, this.context.worlds]);
    const entry = lists.map(({ entries }) => entries.get(dueAnswer.entryId)?.entry).find((found) => found);
    if (!entry) return;
    const { epoch } = this.context.worlds;
    const writing = { world, address: entry.address };
    this.#writing.add(writing);
    try {
      const answers = await composeAnswers({ entry, environment: world.environment, ...dueAnswer });
      for (const answer of answers) {
        // A reset during the call of the correspondent's function, or between two answers, cancels the answers.
        if (this.context.worlds.isOver(epoch, world)) return;
        await this.#deliver(world, dueAnswer.mail, entry, answer);
      }
    } catch (error) {
      const failure = new CorrespondentError(entry.address, error);
      // After a reset, the failure must not fail `settled()` of the next test.
      if (this.context.worlds.isOver(epoch, world)) world.environment.report(failure);
      else world.clock.reportFailure('an answer', failure);
    } finally {
      this.#writing.delete(writing);
    }
  }

  /** Delivers an answer to an inbox or to a correspondent. An answer to any other address is not delivered. */
  async #deliver(world: World, original: Mail, { address: from }: Entry, answer: Answer): Promise<void> {
    const context = mailContextOf({ ...this.context, correspondents: this }, 'correspondent', world);
    const route = findRoute(context, toAddressKey(answer.to), world);
    if (route.kind !== 'inbox' && route.kind !== 'correspondent') return;
    const { subject, messageIdHeader } = 'mail' in answer ? answer.mail : { ...original, subject: 'a delivery report' };
    if (holdIfLoop(context, world, { from, subject, messageIdHeader }, route)) return;
    if ('eml' in answer) {
      await acceptMessage(context, { eml: answer.eml, to: answer.to, envelopeFrom: answer.envelopeFrom });
      return;
    }
    const mail = withTrace(answer.mail, answer, world);
    if (route.kind === 'inbox') {
      checkRoom(context, sizeOfMail(mail));
      receiveMail(context, route, mail);
    } else this.#accept(world, toMail(original, mail, world), route.address);
  }
}

/** Adds the trace: the header fields that a mail server adds to a mail from outside. */
function withTrace(mail: IncomingMail, { to, envelopeFrom }: Answer, { clock }: World): IncomingMail {
  const envelope = { from: envelopeFrom, to: toBareAddress(to), auth: {} };
  const trace = createTrace(envelope, toBareAddress(mail.from), clock.now());
  return { ...mail, headers: { ...trace, ...mail.headers } };
}

/** Returns a mail from one correspondent to another as a `Mail`. No inbox has this mail. */
function toMail(
  original: Mail,
  { raw: _, references, headers, attachments: _files, ...mail }: IncomingMail,
  world: World,
): Mail {
  const entries = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...original,
    ...mail,
    receivedAt: world.clock.now().toISOString(),
    headers: { ...Object.fromEntries(entries), references: references.join(' '), 'in-reply-to': mail.inReplyTo ?? '' },
  };
}
