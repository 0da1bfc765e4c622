import { ENTRY_KINDS, type Entry, type EntryKind, type EntryOf } from '../../service/journal/entry-kinds.ts';
import type { Journals } from '../../service/journal/journals.ts';
import { byTime } from '../../world/journal/journal.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { EntryFields, JournalEntry, JournalLoss, JournalLosses } from './journal-entry.ts';
import { type JournalReader, readerOf } from './show-request.ts';
import { isFoundUnnamed, showData } from './shown-kinds.ts';

const KINDS = Object.keys(ENTRY_KINDS) as EntryKind[];

/** Returns how many entries of the present epoch were dropped, by kind. */
export function readLosses(journals: Journals, worlds: ReachableWorlds): JournalLosses {
  const owners = worlds.owners();
  const losses: { [Kind in EntryKind]?: JournalLoss } = {};
  for (const kind of KINDS) {
    const { count, until } = journals.dropped(owners, [kind]);
    if (until !== null) losses[kind] = { count, until };
    const [sandbox] = worlds.sandboxId === undefined || kind !== 'refusal' ? [] : owners;
    const unowned = sandbox && journals.droppedUnowned(sandbox, 'refusal');
    if (unowned && unowned.until !== null) {
      losses[kind] = { count: count + unowned.count, until: [until ?? '', unowned.until].sort().at(-1) ?? '' };
    }
  }
  return losses;
}

/**
 * Returns the entries of a mailbox or a sandbox, oldest first. For a mailbox, these include the entries of tenants and
 * sandboxes that have ended since its last reset. For a sandbox, they include the refusals of which nothing shows whose
 * they were.
 */
export function readJournal<Kind extends EntryKind>(
  journals: Journals,
  worlds: ReachableWorlds,
  {
    kinds = KINDS.filter(isFoundUnnamed) as Kind[],
    epoch,
  }: { readonly kinds?: readonly Kind[]; readonly epoch?: 'present' | 'former' },
): JournalEntry<Kind>[] {
  const entries: EntryOf<Kind>[] = journals.of(worlds.owners(), { kinds, epoch });
  const ended = worlds.sandboxId === undefined && epoch !== 'former' ? journals.ofEnded(kinds) : [];
  const [sandbox] = worlds.sandboxId === undefined ? [] : worlds.owners();
  const mayBeUnowned = sandbox && epoch !== 'former' && kinds.some((kind) => kind === 'refusal');
  const unowned = mayBeUnowned ? (journals.unowned(sandbox, 'refusal') as Entry[] as EntryOf<Kind>[]) : [];
  const hasStart = epoch !== 'former' && kinds.some((kind) => kind === 'mail-at-start');
  const atStart = hasStart ? (journals.atStart(worlds.all()) as Entry[] as EntryOf<Kind>[]) : [];
  const all =
    ended.length + atStart.length + unowned.length === 0
      ? entries
      : [...atStart, ...entries, ...ended, ...unowned].sort(byTime);
  const view = { reader: readerOf(worlds), mask: worlds.mailbox.mask };
  return all.map((entry) => {
    const shown = { ...showFields(journals, entry as Entry, view.reader), data: showData(entry as Entry, view) };
    return shown as JournalEntry<Kind>;
  });
}

/** Returns the fields that every entry has, whatever its kind. */
export function showFields<Kind extends EntryKind>(
  journals: Journals,
  entry: Entry<Kind>,
  reader: JournalReader,
): EntryFields<Kind> {
  const { tenantId, ownerNumber, realTimeMs, atMs, kind } = entry;
  const cause = journals.causeOf(entry);
  const isShown = cause && (reader === 'mailbox' || cause.tenantId === tenantId);
  return {
    tenantId,
    number: ownerNumber,
    at: new Date(atMs).toISOString(),
    realTime: new Date(realTimeMs).toISOString(),
    kind,
    cause: isShown ? cause : null,
  };
}
