import type { Work } from '../../../basics/work.ts';
import type { Argument } from '../../../service/imap/argument.ts';
import {
  CommandError,
  isList,
  itemsOf,
  needText,
  RefusedCommand,
  writeString,
} from '../../../service/imap/argument.ts';
import { expungeItems } from '../../../service/imap/change-folders.ts';
import type { Folder, FolderName, Item } from '../../../service/imap/folder.ts';
import { FOLDER_NAMES, FOLDERS, findFolderName, matchFolders } from '../../../service/imap/folder.ts';
import type { ImapInbox } from '../../../service/imap/imap-inbox.ts';
import type { FolderView } from '../../../service/imap/view.ts';
import type { Account, CommandResult, CommandTable, LoggedIn, RunCommand, Session } from './session.ts';

/** Returns a command that is always refused, because the folders of the service cannot be changed. */
function createRefusedCommand(explain: (name: string) => string): RunCommand<LoggedIn> {
  return (_, [name]) => {
    throw new RefusedCommand(explain(needText(name, 'The folder').slice(0, 100)), 'CANNOT');
  };
}

/** The commands about folders. */
export const FOLDER_COMMANDS: CommandTable = {
  login: {
    NAMESPACE: ({ session }) => session.sendUntagged('NAMESPACE (("" "/")) NIL NIL'),
    LIST: listFolders,
    LSUB({ session }, [reference, pattern]) {
      for (const name of matchFolders(`${needText(reference, 'The reference')}${needText(pattern, 'The pattern')}`)) {
        session.sendUntagged(`LSUB (${attributesOf(name)}) "/" ${writeString(name)}`);
      }
    },
    SELECT: createOpenCommand(false),
    EXAMINE: createOpenCommand(true),
    async STATUS(state, [name, items]) {
      checkId(state.session);
      await sendStatus(state, state.inbox.folders[findFolderName(needText(name, 'The folder'))], items);
    },
    CREATE: createRefusedCommand((name) => `The folders of the service are fixed, so ${name} cannot be created.`),
    DELETE: createRefusedCommand((name) => `The folder ${name} cannot be deleted.`),
    RENAME: createRefusedCommand((name) => `The folder ${name} cannot be renamed.`),
    SUBSCRIBE: createRefusedCommand((name) => `All folders are subscribed already, so ${name} cannot be subscribed.`),
    UNSUBSCRIBE: createRefusedCommand((name) => `A client cannot unsubscribe from the folder ${name}.`),
  },
  folder: {
    CHECK() {},
    UNSELECT: ({ session }) => session.closeFolder(),
    async CLOSE({ session, inbox, view }): Promise<CommandResult> {
      const { folder, isReadOnly } = view;
      const items = isReadOnly ? [] : folder.items.filter(({ flags }) => flags.has('\\Deleted'));
      const messageIds = items.map(({ id }) => id);
      session.closeFolder();
      await session.complete(inbox, expungeItems(inbox, folder, items));
      return messageIds.length > 0 ? { messageIds } : {};
    },
  },
};

function attributesOf(name: FolderName): string {
  return ['\\HasNoChildren', FOLDERS[name]].filter(Boolean).join(' ');
}

/** Runs LIST with its extensions (RFC 5258, RFC 5819): options for the selection, several patterns, and RETURN. */
async function listFolders(state: LoggedIn, args: readonly Argument[]): Promise<void> {
  const { session, inbox } = state;
  const selectionOptions = isList(args[0]) ? optionsOf(args[0]) : [];
  const [reference, patterns, keyword, list] = isList(args[0]) ? args.slice(1) : args;
  const returnOptions = keyword === undefined ? [] : readReturnOptions(keyword, list);
  const prefix = needText(reference, 'The reference');
  const texts = itemsOf(patterns, 'The pattern').map((pattern) => prefix + needText(pattern, 'The pattern'));
  if (texts.length === 1 && texts[0] === '') {
    session.sendUntagged('LIST (\\Noselect) "/" ""');
    return;
  }
  const matched = new Set(texts.flatMap(matchFolders));
  const names = FOLDER_NAMES.filter(
    (name) => matched.has(name) && (FOLDERS[name] !== '' || !selectionOptions.includes('SPECIAL-USE')),
  );
  const subscribed = [...selectionOptions, ...optionsOf(returnOptions)].includes('SUBSCRIBED') ? ' \\Subscribed' : '';
  const index = returnOptions.findIndex((each) => !isList(each) && needText(each, '').toUpperCase() === 'STATUS');
  for (const name of names) {
    session.sendUntagged(`LIST (${attributesOf(name)}${subscribed}) "/" ${writeString(name)}`);
    if (index >= 0) await sendStatus(state, inbox.folders[name], returnOptions[index + 1]);
  }
}

function readReturnOptions(keyword: Argument, list: Argument | undefined): readonly Argument[] {
  if (needText(keyword, 'RETURN').toUpperCase() === 'RETURN') return itemsOf(list, 'What to return');
  throw new CommandError('Only RETURN and a list may follow the patterns.');
}

/** Returns the names of options in upper case. Leaves out the list that an option may have. */
function optionsOf(options: readonly Argument[]): string[] {
  return options.flatMap((option) => (isList(option) ? [] : needText(option, 'An option').toUpperCase()));
}

/** The messages of a folder that STATUS counts. */
interface CountedFolder {
  readonly folder: Folder;
  readonly items: readonly Item[];
  readonly uidNext: number;
  readonly recentCount: number;
}

/** Returns what STATUS counts. Of the open folder, that is what the session knows of it, as with Dovecot. */
function countedFolderOf({ view }: Session, folder: Folder): CountedFolder {
  if (view?.folder === folder) {
    const { items, uidNext, recent } = view;
    return { folder, items, uidNext, recentCount: recent.size };
  }
  const { items, uidNext, recentFrom } = folder;
  const recentCount = recentFrom === uidNext ? 0 : items.filter(({ uid }) => uid >= recentFrom).length;
  return { folder, items, uidNext, recentCount };
}

const STATUS_ITEMS: Readonly<
  Record<string, (counted: CountedFolder, account: Account) => string | number | Work<number>>
> = {
  MESSAGES: ({ items }) => items.length,
  RECENT: ({ recentCount }) => recentCount,
  UIDNEXT: ({ uidNext }) => uidNext,
  UIDVALIDITY: ({ folder }) => folder.uidValidity,
  *UNSEEN({ items }, { inbox }) {
    let count = 0;
    for (const item of [...items]) {
      if (!inbox.flagsOf(item).has('\\Seen')) count += 1;
      yield;
    }
    return count;
  },
  *SIZE({ items }, { reader }) {
    let size = 0;
    for (const item of [...items]) {
      const source = reader.find(item);
      if (source) size += yield* reader.sizeOf(source);
      yield;
    }
    return size;
  },
  MAILBOXID: ({ folder }, { inbox }) => `(${mailboxIdOf(inbox, folder)})`,
};

function mailboxIdOf({ id }: ImapInbox, { name }: Folder): string {
  return `${name}-${id}`;
}

async function sendStatus(state: LoggedIn, folder: Folder, wanted: Argument | undefined): Promise<void> {
  const { session, inbox } = state;
  const counted = countedFolderOf(session, folder);
  // An item that is named several times is computed and shown once.
  const names = new Set(itemsOf(wanted, 'What to show').map((each) => needText(each, 'The item').toUpperCase()));
  const values: string[] = [];
  for (const name of names) {
    const value = STATUS_ITEMS[name]?.(counted, state);
    if (value === undefined) throw new CommandError(`There is no STATUS item ${name.slice(0, 100)}.`);
    const isWork = typeof value === 'object';
    values.push(`${name} ${isWork ? await session.complete(inbox, value) : value}`);
  }
  session.sendUntagged(`STATUS ${writeString(folder.name)} (${values.join(' ')})`);
}

/** If the fault `id-required` is set, refuses the command of a client that has not sent ID. */
function checkId(session: Session): void {
  if (!session.faults.has('id-required') || session.hasSentId) return;
  throw new RefusedCommand('Unsafe login: send ID first.');
}

/** Returns the command that opens a folder. CONDSTORE is accepted and has no effect. */
function createOpenCommand(isReadOnly: boolean): RunCommand<LoggedIn> {
  return ({ session, inbox }, [name, options]) => {
    session.closeFolder();
    checkId(session);
    const wanted = options === undefined ? [] : optionsOf(itemsOf(options, 'The options'));
    if (wanted.some((option) => option !== 'CONDSTORE')) throw new CommandError('The only option is CONDSTORE.');
    const view = session.openFolder(inbox, findFolderName(needText(name, 'The folder')), isReadOnly);
    for (const line of describeFolder(view)) session.sendUntagged(line);
    if (wanted.length > 0) session.sendUntagged('OK [NOMODSEQ] Changes have no numbers.');
    return { text: `[${isReadOnly ? 'READ-ONLY' : 'READ-WRITE'}] ${view.folder.name} is open.` };
  };
}

function describeFolder(view: FolderView): string[] {
  const { inbox, folder, items, recent } = view;
  const firstUnseen = items.findIndex((item) => !inbox.flagsOf(item).has('\\Seen'));
  return [
    ...view.describeFlags(),
    `${items.length} EXISTS`,
    `${recent.size} RECENT`,
    ...(firstUnseen < 0 ? [] : [`OK [UNSEEN ${firstUnseen + 1}] The first unseen message.`]),
    `OK [UIDVALIDITY ${folder.uidValidity}] The UIDs are valid.`,
    `OK [UIDNEXT ${folder.uidNext}] The next UID.`,
    `OK [MAILBOXID (${mailboxIdOf(inbox, folder)})] The id of the folder.`,
  ];
}
