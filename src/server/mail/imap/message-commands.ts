import type { Work } from '../../../basics/work.ts';
import {
  type Argument,
  CommandError,
  isList,
  itemsOf,
  needText,
  parseInternalDate,
  parseSequence,
  RefusedCommand,
  type Word,
  writeSequence,
} from '../../../service/imap/argument.ts';
import {
  appendMail,
  copyItems,
  expungeItems,
  FLAG_CHANGES,
  moveItems,
  readFlags,
  setFlags,
} from '../../../service/imap/change-folders.ts';
import {
  createSimpleItem,
  type FetchPlan,
  type Output,
  parseFetch,
  type Writing,
} from '../../../service/imap/fetch-items.ts';
import type { FetchedMail } from '../../../service/imap/fetched-mail.ts';
import { type Folder, findFolderName, type Item } from '../../../service/imap/folder.ts';
import type { ImapInbox } from '../../../service/imap/imap-inbox.ts';
import { contains, search } from '../../../service/imap/search.ts';
import type { FolderView } from '../../../service/imap/view.ts';
import type { ShownMails } from '../../../service/journal/entry-data.ts';
import type { Command } from './parse-command.ts';
import { type CommandResult, type CommandTable, ConnectionEnded, type FolderOpen, type LoggedIn } from './session.ts';

/** Returns the ids of items, for the journal. */
function idsOf(items: readonly Item[]): string[] {
  return items.map(({ id }) => id);
}

function checkWritable({ isReadOnly }: FolderView): void {
  if (isReadOnly)
    throw new RefusedCommand('The folder was opened by EXAMINE, so nothing in it can be changed.', 'READ-ONLY');
}

/** The commands that read and change messages. */
export const MESSAGE_COMMANDS: CommandTable = {
  messages: {
    FETCH: fetchMessages,
    STORE: storeFlags,
    SEARCH: searchMessages,
    COPY: copyOrMove,
    MOVE: copyOrMove,
    EXPUNGE: expunge,
  },
  login: { APPEND: append },
};

async function fetchMessages(state: FolderOpen, args: Command['args'], { isUid }: Command): Promise<CommandResult> {
  const { session, view } = state;
  const selected = view.select(args[0], isUid);
  const plan = parseFetch(args.length > 2 ? args.slice(1) : args[1], isUid);
  const result: FetchResult = { messageIds: [], shown: new Map(), hasGone: false };
  const work = collectOutput(writeReplies(state, selected, plan, result));
  // Some messages may be read already when a FETCH is refused, so the refusal is a part of its result.
  let refusal: RefusedCommand | undefined;
  try {
    for (;;) {
      const step = await session.shared.queue.next(work, () => view.isClosed);
      if (!step || step.done) break;
      session.connection.send(...step.value);
      await session.connection.drain();
    }
    // A UID that no message has is ignored (RFC 3501, section 6.4.8).
    if (result.hasGone && !isUid) refusal = createGoneError();
  } catch (error) {
    if (!(error instanceof ConnectionEnded)) throw error;
    refusal = new RefusedCommand('The connection ended before the reply was complete.');
  } finally {
    work.return();
  }
  const { messageIds } = result;
  const shown = [...result.shown.values()];
  const isRead = plan.items.some((each) => each.readsContent) || shown.length > 0;
  return isRead ? { messageIds, shown, refusal } : { refusal };
}

function createGoneError(): RefusedCommand {
  return new RefusedCommand('Some of the messages no longer exist.', 'EXPUNGEISSUED');
}

/** Which messages a FETCH has replied with, and whether some were gone. */
interface FetchResult {
  readonly messageIds: string[];
  /** What it has shown of them: those with the same parts and files together, by these. */
  readonly shown: Map<string, ShownMails & { readonly messageIds: string[] }>;
  hasGone: boolean;
}

/** Writes the replies of a FETCH piece by piece. If it marks a message as read, it also writes the flags. */
function* writeReplies(
  { session, inbox, reader, view }: FolderOpen,
  selected: readonly Item[],
  { items, fieldNames }: FetchPlan,
  result: FetchResult,
): Writing {
  const marksRead = !view.isReadOnly && items.some((each) => each.marksRead);
  const showsFlags = items.some(({ key }) => key === 'FLAGS');
  for (const item of selected) {
    yield;
    const source = item.isGone ? undefined : reader.find(item);
    if (!source) {
      result.hasGone = true;
      continue;
    }
    result.messageIds.push(item.id);
    const flags = inbox.flagsOf(item);
    const becomesRead = marksRead && !flags.has('\\Seen');
    if (becomesRead) setFlags(inbox, view.folder, item, flags.add('\\Seen'));
    if (becomesRead || showsFlags) {
      view.forgetChange(item);
      for (const line of view.takeNewFlags()) yield [`* ${line}\r\n`];
    }
    const written = becomesRead && !showsFlags ? [...items, createSimpleItem('FLAGS')] : items;
    const mail = {
      source,
      inbox,
      reader,
      flags: view.writeFlags(item),
      fieldNames,
      fields: new Map(),
      shown: createShown(),
    };
    yield [`* ${view.numberOf(item)} FETCH (`];
    let mayCut = true;
    for (const [index, each] of written.entries()) {
      if (index > 0) yield [' '];
      for (const output of each.write(mail)) {
        const content = output?.[0];
        if (mayCut && content instanceof Uint8Array) {
          mayCut = false;
          if (session.takeFault('cut-literal')) {
            yield [content.subarray(0, content.length >> 1)];
            session.connection.end();
            return;
          }
        }
        yield output;
      }
    }
    yield [')\r\n'];
    addShown(result, item, mail.shown);
  }
}

/** What a FETCH has shown of one message so far: nothing yet. */
const createShown = (): FetchedMail['shown'] => ({ parts: new Set(), attachmentIds: new Set() });

/** Adds a message to those of which a FETCH has shown the same parts and files. */
function addShown({ shown }: FetchResult, { id }: Item, { parts, attachmentIds }: FetchedMail['shown']): void {
  if (parts.size === 0) return;
  const key = [...parts, ...attachmentIds].join();
  const group = shown.get(key) ?? { parts: [...parts], attachmentIds: [...attachmentIds], messageIds: [] };
  group.messageIds.push(id);
  shown.set(key, group);
}

/** How much output is sent at once. */
const COLLECTED_LENGTH = 16 * 1024;

/** Collects short pieces of output, because each piece that is sent costs time. */
function* collectOutput(work: Writing): Writing {
  let collected: Output = [];
  let length = 0;
  for (const output of work) {
    if (output) {
      collected.push(...output);
      length += output.reduce((sum, piece) => sum + piece.length, 0);
    }
    if (length < COLLECTED_LENGTH) yield;
    else {
      yield collected;
      collected = [];
      length = 0;
    }
  }
  if (length > 0) yield collected;
}

async function storeFlags(state: FolderOpen, args: Command['args'], { isUid }: Command): Promise<CommandResult> {
  const { session, inbox, view } = state;
  const [sequence, change, firstFlag, ...otherFlags] = args;
  const selected = view.select(sequence, isUid);
  const [name = '', silent] = needText(change, 'How to change the flags')
    .toUpperCase()
    .split(/(\.SILENT$)/);
  const found = FLAG_CHANGES[name];
  if (!found) throw new CommandError('STORE needs FLAGS, +FLAGS or -FLAGS.');
  const changeFlags = found;
  checkWritable(view);
  if (firstFlag === undefined) throw new CommandError('STORE needs flags.');
  const given = readFlags(inbox, isList(firstFlag) ? firstFlag : [firstFlag, ...otherFlags]);
  const messageIds: string[] = [];
  function* store(): Work<void> {
    for (const item of selected) {
      yield;
      if (item.isGone) continue;
      setFlags(inbox, view.folder, item, changeFlags(inbox.flagsOf(item), given));
      messageIds.push(item.id);
      if (silent) view.forgetChange(item);
      else view.changed(item, 'flags');
    }
  }
  await session.complete(inbox, store());
  return { messageIds };
}

async function searchMessages(state: FolderOpen, args: Command['args'], { tag, isUid }: Command): Promise<void> {
  const { session, reader, view } = state;
  const hasReturn = args[0] !== undefined && !isList(args[0]) && needText(args[0], '').toUpperCase() === 'RETURN';
  const options = hasReturn ? readSearchOptions(args[1]) : undefined;
  const work = search({ view, reader }, hasReturn ? args.slice(2) : args);
  const found = (await session.shared.queue.run(work, () => view.isClosed)) ?? [];
  const numbers = found.map(({ item, number }) => (isUid ? item.uid : number));
  if (options) {
    session.sendUntagged(`ESEARCH (TAG "${tag}")${isUid ? ' UID' : ''}${describeFound(options, numbers)}`);
  } else session.sendUntagged(['SEARCH', ...numbers].join(' '));
}

/** What SEARCH can return (RFC 4731). If SEARCH has found no message, only COUNT has a result. */
const SEARCH_RESULTS: Readonly<Record<string, (numbers: readonly number[]) => string | number | undefined>> = {
  MIN: (numbers) => numbers[0],
  MAX: (numbers) => numbers.at(-1),
  ALL: (numbers) => writeSequence(numbers) || undefined,
  COUNT: (numbers) => numbers.length,
};

/** Returns the names of the results that a SEARCH wants, in upper case. @throws {CommandError} */
function readSearchOptions(argument: Argument | undefined): string[] {
  const options = itemsOf(argument, 'What to return').map((each) => needText(each, 'An option').toUpperCase());
  const unknown = options.find((option) => !SEARCH_RESULTS[option]);
  if (unknown !== undefined) throw new CommandError(`SEARCH cannot return ${unknown.slice(0, 100)}.`);
  return options.length === 0 ? ['ALL'] : [...new Set(options)];
}

function describeFound(options: readonly string[], numbers: readonly number[]): string {
  const results = options.map((option) => {
    const result = SEARCH_RESULTS[option]?.(numbers);
    return result === undefined ? '' : ` ${option} ${result}`;
  });
  return results.join('');
}

/** Returns the folder into which messages are copied, moved or stored. */
function targetOf(inbox: ImapInbox, name: Argument | undefined): Folder {
  try {
    return inbox.folders[findFolderName(needText(name, 'The folder'))];
  } catch (error) {
    if (!(error instanceof RefusedCommand)) throw error;
    throw new RefusedCommand(error.message, 'TRYCREATE');
  }
}

/** Runs COPY and MOVE. */
async function copyOrMove(state: FolderOpen, args: Command['args'], { name, isUid }: Command): Promise<CommandResult> {
  const { session, inbox, context, view } = state;
  const selected = view.select(args[0], isUid);
  const to = targetOf(inbox, args[1]);
  const items = selected.filter(({ isGone }) => !isGone);
  // A UID that no message has is ignored (RFC 3501, section 6.4.8).
  if (items.length < selected.length && !isUid) throw createGoneError();
  if (name === 'MOVE') checkWritable(view);
  const messageIds = idsOf(items);
  const transfer = { inbox, from: view.folder, items, to };
  const work = name === 'COPY' ? copyItems(context, transfer) : moveItems(transfer);
  const uidPairs = (await session.complete(inbox, work)) ?? [];
  if (uidPairs.length === 0) return { messageIds };
  const [oldUids, newUids] = [0, 1].map((side) => writeSequence(uidPairs.map((pair) => pair[side] ?? 0)));
  const code = `[COPYUID ${to.uidValidity} ${oldUids} ${newUids}]`;
  if (name === 'COPY') return { text: `${code} COPY is done.`, messageIds };
  session.sendUntagged(`OK ${code} The messages were moved.`);
  return { messageIds };
}

async function expunge(state: FolderOpen, [uids]: Command['args'], { isUid }: Command): Promise<CommandResult> {
  const { session, inbox, view } = state;
  checkWritable(view);
  const lastUid = view.items.at(-1)?.uid ?? 0;
  const ranges = isUid ? parseSequence(needText(uids, 'The UIDs'), lastUid) : [[0, Number.POSITIVE_INFINITY] as const];
  const isInRanges = contains(ranges);
  const items = view.folder.items.filter(({ uid, flags }) => flags.has('\\Deleted') && isInRanges(uid));
  const messageIds = idsOf(items);
  await session.complete(inbox, expungeItems(inbox, view.folder, items));
  return messageIds.length > 0 ? { messageIds } : {};
}

function append({ session, inbox, context }: LoggedIn, args: Command['args']): CommandResult {
  const [name, ...remaining] = args;
  const target = targetOf(inbox, name);
  const flags = isList(remaining[0]) ? readFlags(inbox, remaining.shift()) : [];
  const date = remaining.length > 1 ? needText(remaining.shift(), 'The date') : undefined;
  const time = date === undefined ? undefined : parseInternalDate(date);
  const { bytes } = (remaining[0] ?? {}) as Partial<Word>;
  if (date !== undefined && time === undefined) {
    throw new CommandError('The date must be written as " 7-Feb-2026 21:52:25 +0000".');
  }
  if (!bytes || remaining.length > 1) throw new CommandError('APPEND needs one mail, as a literal.');
  const appended = { folder: target.name, bytes, flags, time };
  const item = session.change(() => appendMail(context, inbox, appended));
  if (!item) throw new RefusedCommand('The mail was removed at once.');
  return { text: `[APPENDUID ${target.uidValidity} ${item.uid}] The mail is stored.`, messageIds: [item.id] };
}
