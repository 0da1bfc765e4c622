import type { Environment } from '../../world/environment.ts';
import type { EntryNumber } from '../../world/journal/entry.ts';
import { Journals as AnyJournals, byTime } from '../../world/journal/journal.ts';
import type { Owner, Part, PartOf } from '../../world/store/parts.ts';
import type { AttachmentRow, MessageRow, RowKind, Rows } from '../../world/store/rows.ts';
import { canonicalAddress, type World } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import {
  type ChangedKind,
  type EntryData,
  type MailEvent,
  SHOWN_PARTS,
  type ShownMails,
  type ShownPart,
} from './entry-data.ts';
import { ENTRY_KINDS, type Entry, type EntryOf, isEntryOf } from './entry-kinds.ts';

/** What is counted and noted of the requests of one owner in the present epoch. */
class RequestNotes implements Part {
  readonly staysOnReset = true;
  /** How many requests came. */
  count = 0;
  /** In the notes of the mailbox: how many requests came to all owners. */
  countOfAll = 0;
  /** The list of requests shows none up to this number of the mailbox, because a test has cleared it. */
  clearedUpTo = 0;
  /** The same before the latest `clearRequests`; undefined if there is nothing to restore. */
  clearedUpToBefore: number | undefined;
  /** What clients were shown of each mail that they have named, as bits: see `bitsOf`. */
  readonly shownBits = new Map<string, number>();
  /** The ids of the files whose bytes clients were shown. */
  readonly shownFiles = new Set<string>();
  readonly #keepsEpoch: () => boolean;

  constructor(keepsEpoch: () => boolean) {
    this.#keepsEpoch = keepsEpoch;
  }

  beginEpoch(): void {
    if (this.#keepsEpoch()) return;
    this.count = 0;
    this.countOfAll = 0;
    this.clearedUpTo = 0;
    this.clearedUpToBefore = undefined;
    this.shownBits.clear();
    this.shownFiles.clear();
  }

  end(): void {}
}

/** The journals of a mailbox and of its tenants, with the kinds of entries that the service and its controls have. */
export class Journals extends AnyJournals<EntryData> {
  readonly #notesOf: PartOf<RequestNotes>;
  readonly #worlds: Worlds;

  /** Creates empty journals, which keep `size` requests of each tenant. `environment` gives the real time. */
  constructor(worlds: Worlds, environment: Environment, size: number) {
    super(worlds, environment, ENTRY_KINDS, size);
    this.#worlds = worlds;
    this.#notesOf = worlds.addPart('requests', (owner: Owner) => new RequestNotes(() => this.keepsEpoch(owner)));
    worlds.onRowChange((world, kind, before, after) => {
      if (kind === 'messages' && after === undefined) this.#forgetShown(world, before as MessageRow);
      this.#addChange(world, kind, before, after);
    });
  }

  /** Adds an entry for a row that a client has changed. A message has one only when it is deleted or restored. */
  #addChange(world: World, kind: RowKind, before: object | undefined, after: object | undefined): void {
    const { client } = this;
    const object = CHANGED_OBJECTS[kind];
    if (client === undefined || object === undefined) return;
    const action = before === undefined ? 'created' : after === undefined ? 'removed' : 'changed';
    const row = (after ?? before) as Partial<Rows[RowKind]> & { readonly inboxId?: string; readonly ownerId?: string };
    const change = { object, id: row.id ?? '', inboxId: row.inboxId ?? row.ownerId ?? null, by: client, row };
    if (kind !== 'messages') {
      this.publish(world, 'change', { ...change, action });
      return;
    }
    const [wasDeleted, isDeleted] = [before, after].map((each) => each && (each as MessageRow).deletedAt !== null);
    if (action === 'removed') this.publish(world, 'change', { ...change, action });
    else if (before && wasDeleted !== isDeleted) {
      this.publish(world, 'change', { ...change, action: isDeleted ? 'removed' : 'created' });
    }
  }

  /**
   * Notes what a reply shows of mails of a world. Returns the ids of those of which it shows something that no reply
   * has shown before. The ids of other objects are ignored.
   */
  noteShown(world: World, { parts, messageIds, attachmentIds = [] }: ShownMails): string[] {
    const { shownBits, shownFiles } = this.#notesOf(world);
    const bits = bitsOf(parts);
    const isNewFile = attachmentIds.some((id) => !shownFiles.has(id));
    for (const id of isNewFile ? attachmentIds : []) shownFiles.add(id);
    const found: string[] = [];
    for (const messageId of messageIds) {
      const known = shownBits.get(messageId);
      if (known !== undefined && (known & bits) === bits && !isNewFile) continue;
      const message = world.messages.get(messageId);
      if (!message) continue;
      // Not `messageId`: V8 keeps the whole text of a reply as long as a text that was cut out of it.
      shownBits.set(message.id, (known ?? 0) | bits);
      found.push(message.id);
    }
    return found;
  }

  /** Forgets what was shown of a mail, because it was removed and cannot be shown again. */
  #forgetShown(world: World, { id }: MessageRow): void {
    for (const { shownBits } of this.#notesOf.in([world])) shownBits.delete(id);
  }

  /** Counts a new request of an owner. Returns its number in the mailbox, and its number among those of its owner. */
  countRequest(owner: Owner): readonly [mailboxNumber: number, ownerNumber: number] {
    const ofAll = this.#notesOf(this.#worlds);
    const own = this.#notesOf(owner);
    ofAll.countOfAll += 1;
    own.count += 1;
    return [ofAll.countOfAll, own.count];
  }

  /** Returns the requests and commands of some owners that lists of requests show, oldest first. */
  requests(owners: readonly Owner[]): EntryOf<'request' | 'mail-command'>[] {
    const lists = owners.map((owner) => {
      const entries = this.of([owner], { kinds: ['request', 'mail-command'] });
      const [notes] = this.#notesOf.in([owner]);
      const clearedUpTo = notes?.clearedUpTo ?? 0;
      return clearedUpTo === 0 ? entries : entries.filter(({ mailboxNumber }) => mailboxNumber > clearedUpTo);
    });
    const [only] = lists;
    return only && lists.length === 1 ? only : lists.flat().sort(byTime);
  }

  /** Makes lists of requests start after the present requests. `restoreRequests` undoes this. */
  clearRequests(owners: readonly Owner[]): void {
    for (const notes of this.#notesOf.in(owners)) {
      notes.clearedUpToBefore = notes.clearedUpTo;
      notes.clearedUpTo = this.nextMailboxNumber - 1;
    }
  }

  /** Makes lists of requests start where they started before the latest `clearRequests`. */
  restoreRequests(owners: readonly Owner[]): void {
    for (const notes of this.#notesOf.in(owners)) {
      notes.clearedUpTo = notes.clearedUpToBefore ?? notes.clearedUpTo;
      notes.clearedUpToBefore = undefined;
    }
  }

  /**
   * Returns the entry that led to another, which may no longer be kept: for a mail that answers or forwards another, that
   * mail; otherwise what its cause says.
   */
  causeOf(entry: Entry): EntryNumber | undefined {
    if (isEntryOf(entry, 'mail-received', 'mail-sent')) {
      const { message, forwardOf } = entry.data;
      for (const id of [message.inReplyTo, forwardOf]) {
        const found = id == null ? undefined : this.findLast(id, entry);
        if (found) return { tenantId: found.tenantId, number: found.ownerNumber };
      }
    }
    return entry.cause?.entry;
  }

  /**
   * Returns an entry for each mail with which the present epoch of some worlds began, such as the mail of the fixture.
   * The entries are created from the rows of that time, and have no numbers.
   */
  atStart(worlds: readonly World[]): Entry<'mail-at-start'>[] {
    return worlds.flatMap(({ id: tenantId, rowsAtStart }) => {
      const files = new Map<string, AttachmentRow[]>();
      for (const file of rowsAtStart?.attachments ?? []) {
        files.set(file.messageId, [...(files.get(file.messageId) ?? []), file]);
      }
      const inboxes = new Map(rowsAtStart?.inboxes.map((inbox) => [inbox.id, inbox]));
      return (rowsAtStart?.messages ?? []).map((message): Entry<'mail-at-start'> => {
        const inbox = inboxes.get(message.inboxId);
        const atMs = Date.parse(message.receivedAt);
        const data: MailEvent = {
          id: `evt_${message.id}`,
          event: message.direction === 'inbound' ? 'message.received' : 'message.sent',
          workspaceId: inbox?.workspaceId ?? '',
          inboxId: message.inboxId,
          inbox: inbox ? canonicalAddress(inbox) : '',
          message,
          attachments: files.get(message.id) ?? [],
          source: 'fixture',
        };
        return {
          mailboxNumber: 0,
          ownerNumber: 0,
          mailboxFeedNumber: 0,
          ownerFeedNumber: 0,
          realTimeMs: atMs,
          atMs,
          tenantId,
          kind: 'mail-at-start',
          data,
          cause: undefined,
          bytes: 0,
          journal: this,
        };
      });
    });
  }
}

/** What a row of each kind is in the words of the service. Files of messages have no entries of their own. */
const CHANGED_OBJECTS: { readonly [Kind in RowKind]?: ChangedKind } = {
  addresses: 'address',
  apiKeys: 'key',
  domains: 'domain',
  drafts: 'draft',
  inboxes: 'inbox',
  listEntries: 'contact',
  lists: 'list',
  messages: 'message',
  tenants: 'tenant',
  webhooks: 'webhook',
  workspaces: 'workspace',
};

const NO_PARTS: readonly ShownPart[] = [];

/** What else somebody has seen who was shown a part. */
const INCLUDED_PARTS: { readonly [Part in ShownPart]?: readonly ShownPart[] } = {
  plainBody: ['snippet'],
  raw: SHOWN_PARTS,
};

/** Returns a number with a bit for each part, and for what the part includes. */
function bitsOf(parts: readonly ShownPart[]): number {
  let bits = 0;
  for (const part of parts) {
    bits |= 1 << SHOWN_PARTS.indexOf(part);
    for (const included of INCLUDED_PARTS[part] ?? NO_PARTS) bits |= 1 << SHOWN_PARTS.indexOf(included);
  }
  return bits;
}
