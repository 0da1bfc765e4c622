import {
  type Argument,
  CommandError,
  isList,
  itemsOf,
  parseInternalDate,
  parseSequence,
  RefusedCommand,
  textOf,
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
import { createSimpleItem, type FetchContext, type Output, parseFetch } from '../../../service/imap/fetch-items.ts';
import { type Folder, findFolderName, type Item } from '../../../service/imap/folder.ts';
import type { ImapInbox } from '../../../service/imap/imap-inbox.ts';
import { contains, search } from '../../../service/imap/search.ts';
import type { FolderView } from '../../../service/imap/view.ts';
import type { Command } from './parse-command.ts';
import type { CommandResult, CommandTable, Session } from './session.ts';

/** Returns what a command needs to select messages: the open folder, the account, and whether it uses UIDs. */
function needOpenFolder(session: Session, { isUid }: Command) {
  return { view: session.needView(), ...session.needAccount(), isUid };
}

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

async function fetchMessages(session: Session, args: Command['args'], command: Command): Promise<CommandResult> {
  const { inbox, reader, view, isUid } = needOpenFolder(session, command);
  const selected = view.select(args[0], isUid);
  const parsed = parseFetch(args.length > 2 ? args.slice(1) : args[1]);
  const wanted = isUid ? [createSimpleItem('UID'), ...parsed.filter(({ name }) => name !== 'UID')] : parsed;
  const context = { inbox, reader, writeFlags: (item: Item) => view.writeFlags(item) };
  const marksRead = !view.isReadOnly && wanted.some((each) => each.marksRead);
  const present = selected.filter((item) => !item.isGone);
  for (const item of present) {
    if (item.isGone) continue;
    sendItem(session, view, item, { wanted, context, marksRead });
    await session.connection.drain();
  }
  const messageIds = wanted.some((each) => each.readsContent) ? { messageIds: idsOf(present) } : {};
  if (present.length === selected.length) return messageIds;
  throw createGoneError();
}

function createGoneError(): RefusedCommand {
  return new RefusedCommand('Some of the messages no longer exist.', 'EXPUNGEISSUED');
}

/** What a FETCH sends of each message, and whether it marks the message as read. */
interface FetchPlan {
  readonly wanted: ReturnType<typeof parseFetch>;
  readonly context: FetchContext;
  readonly marksRead: boolean;
}

/** Sends the wanted items of a message. If FETCH marks the message as read, also sends the flags of the message. */
function sendItem(session: Session, view: FolderView, item: Item, { wanted, context, marksRead }: FetchPlan): void {
  const { inbox, folder } = view;
  const flags = inbox.flagsOf(item);
  const becomesRead = marksRead && !flags.has('\\Seen');
  if (becomesRead) setFlags(inbox, folder, item, flags.add('\\Seen'));
  const showsFlags = wanted.some(({ name }) => name === 'FLAGS');
  if (becomesRead || showsFlags) view.forgetChange(item);
  const items = becomesRead && !showsFlags ? [...wanted, createSimpleItem('FLAGS')] : wanted;
  const output = items.flatMap((each, index) => [index > 0 ? ' ' : '', ...each.write(item, context)]);
  sendFetch(session, [`* ${view.numberOf(item)} FETCH (`, ...output, ')\r\n']);
}

/** Sends a FETCH reply. Under the fault `cut-literal`, the connection ends in the middle of the content. */
function sendFetch({ connection, takeFault }: Session, output: Output): void {
  const index = output.findIndex((piece) => typeof piece !== 'string');
  const content = output[index];
  if (content instanceof Uint8Array && takeFault('cut-literal')) {
    connection.send(...output.slice(0, index), content.subarray(0, content.length >> 1));
    connection.end();
  } else connection.send(...output);
}

function storeFlags(session: Session, args: Command['args'], command: Command): CommandResult {
  const { inbox, view, isUid } = needOpenFolder(session, command);
  const [sequence, change, firstFlag, ...otherFlags] = args;
  const selected = view.select(sequence, isUid);
  const [name = '', silent] = textOf(change, 'How to change the flags')
    .toUpperCase()
    .split(/(\.SILENT$)/);
  const changeFlags = FLAG_CHANGES[name];
  if (!changeFlags) throw new CommandError('STORE needs FLAGS, +FLAGS or -FLAGS.');
  checkWritable(view);
  if (firstFlag === undefined) throw new CommandError('STORE needs flags.');
  const given = readFlags(inbox, isList(firstFlag) ? firstFlag : [firstFlag, ...otherFlags]);
  for (const item of selected.filter(({ isGone }) => !isGone)) {
    setFlags(inbox, view.folder, item, changeFlags(inbox.flagsOf(item), given));
    if (silent) view.forgetChange(item);
    else view.changed(item, 'flags');
  }
  return { messageIds: idsOf(selected) };
}

function searchMessages(session: Session, args: Command['args'], command: Command): void {
  const { reader, view, isUid } = needOpenFolder(session, command);
  const hasReturn = args[0] !== undefined && !isList(args[0]) && textOf(args[0], '').toUpperCase() === 'RETURN';
  const found = search({ view, reader }, hasReturn ? args.slice(2) : args);
  const numbers = found.map(({ item, number }) => (isUid ? item.uid : number));
  if (!hasReturn) {
    session.sendUntagged(['SEARCH', ...numbers].join(' '));
    return;
  }
  const options = itemsOf(args[1], 'What to return').map((each) => textOf(each, 'An option').toUpperCase());
  session.sendUntagged(`ESEARCH (TAG "${command.tag}")${isUid ? ' UID' : ''}${describeFound(options, numbers)}`);
}

/** What SEARCH can return (RFC 4731). If SEARCH has found no message, only COUNT has a result. */
const SEARCH_RESULTS: Readonly<Record<string, (numbers: readonly number[]) => string | number | undefined>> = {
  MIN: (numbers) => numbers[0],
  MAX: (numbers) => numbers.at(-1),
  ALL: (numbers) => writeSequence(numbers) || undefined,
  COUNT: (numbers) => numbers.length,
};

function describeFound(options: readonly string[], numbers: readonly number[]): string {
  const wanted = options.length === 0 ? ['ALL'] : options;
  const results = wanted.map((option) => {
    const getResult = SEARCH_RESULTS[option];
    if (!getResult) throw new CommandError(`SEARCH cannot return ${option.slice(0, 100)}.`);
    const result = getResult(numbers);
    return result === undefined ? '' : ` ${option} ${result}`;
  });
  return results.join('');
}

/** Returns the folder into which messages are copied, moved or stored. */
function targetOf(inbox: ImapInbox, name: Argument | undefined): Folder {
  try {
    return inbox.folders[findFolderName(textOf(name, 'The folder'))];
  } catch (error) {
    if (!(error instanceof RefusedCommand)) throw error;
    throw new RefusedCommand(error.message, 'TRYCREATE');
  }
}

/** Runs COPY and MOVE. */
function copyOrMove(session: Session, args: Command['args'], command: Command): CommandResult {
  const { inbox, context, view, isUid } = needOpenFolder(session, command);
  const { name } = command;
  const items = view.select(args[0], isUid);
  const to = targetOf(inbox, args[1]);
  if (items.some(({ isGone }) => isGone)) throw createGoneError();
  if (name === 'MOVE') checkWritable(view);
  const messageIds = idsOf(items);
  const transfer = { inbox, from: view.folder, items, to };
  const uidPairs = name === 'COPY' ? copyItems(context, transfer) : moveItems(transfer);
  if (uidPairs.length === 0) return { messageIds };
  const [oldUids, newUids] = [0, 1].map((side) => writeSequence(uidPairs.map((pair) => pair[side] ?? 0)));
  const code = `[COPYUID ${to.uidValidity} ${oldUids} ${newUids}]`;
  if (name === 'COPY') return { text: `${code} COPY is done.`, messageIds };
  session.sendUntagged(`OK ${code} The messages were moved.`);
  return { messageIds };
}

function expunge(session: Session, [uids]: Command['args'], command: Command): CommandResult {
  const { inbox, view, isUid } = needOpenFolder(session, command);
  checkWritable(view);
  const lastUid = view.items.at(-1)?.uid ?? 0;
  const ranges = isUid ? parseSequence(textOf(uids, 'The UIDs'), lastUid) : [[0, Number.POSITIVE_INFINITY] as const];
  const isInRanges = contains(ranges);
  const items = view.folder.items.filter(({ uid, flags }) => flags.has('\\Deleted') && isInRanges(uid));
  const messageIds = idsOf(items);
  expungeItems(inbox, view.folder, items);
  return messageIds.length > 0 ? { messageIds } : {};
}

function append(session: Session, args: Command['args']): CommandResult {
  const { inbox, context } = session.needAccount();
  const [name, ...remaining] = args;
  const target = targetOf(inbox, name);
  const flags = isList(remaining[0]) ? readFlags(inbox, remaining.shift()) : [];
  const date = remaining.length > 1 ? textOf(remaining.shift(), 'The date') : undefined;
  const time = date === undefined ? undefined : parseInternalDate(date);
  const { bytes } = (remaining[0] ?? {}) as Partial<Word>;
  if (date !== undefined && time === undefined) {
    throw new CommandError('The date must be written as " 7-Feb-2026 21:52:25 +0000".');
  }
  if (!bytes || remaining.length > 1) throw new CommandError('APPEND needs one mail, as a literal.');
  const item = appendMail(context, inbox, { folder: target.name, bytes, flags, time });
  if (!item) throw new RefusedCommand('The mail was removed at once.');
  return { text: `[APPENDUID ${target.uidValidity} ${item.uid}] The mail is stored.`, messageIds: [item.id] };
}
