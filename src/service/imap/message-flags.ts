import { type Argument, CommandError, itemsOf, RefusedCommand, textOf } from './argument.ts';
import type { Folder, Item } from './folder.ts';
import { type ImapInbox, SYSTEM_FLAGS } from './imap-inbox.ts';

/** How many keywords an inbox can have, and how long one can be. */
const MAX_KEYWORDS = 100;
const MAX_KEYWORD_LENGTH = 100;

/** Returns the flags that a client has named, each as it was first written. */
export function readFlags(inbox: ImapInbox, argument: Argument | undefined): string[] {
  return itemsOf(argument, 'The flags').map((each) => {
    const flag = textOf(each, 'A flag');
    const known = SYSTEM_FLAGS.find((name) => name.toLowerCase() === flag.toLowerCase());
    return known ?? readKeyword(inbox, flag);
  });
}

function readKeyword({ keywords }: ImapInbox, keyword: string): string {
  const key = keyword.toLowerCase();
  const known = keywords.get(key);
  if (known !== undefined) return known;
  if (!/^[!#$&'+-Z^-z|}~]+$/.test(keyword)) throw new CommandError(`There is no flag ${keyword.slice(0, 100)}.`);
  if (keywords.size >= MAX_KEYWORDS || keyword.length > MAX_KEYWORD_LENGTH) {
    throw new RefusedCommand(
      `An inbox can have ${MAX_KEYWORDS} keywords of at most ${MAX_KEYWORD_LENGTH} characters.`,
      'LIMIT',
    );
  }
  keywords.set(key, keyword);
  return keyword;
}

/** How STORE changes flags, by its name. */
export const FLAG_CHANGES: Readonly<Record<string, (flags: Set<string>, given: readonly string[]) => Set<string>>> = {
  FLAGS: (_, given) => new Set(given),
  '+FLAGS': (flags, given) => new Set([...flags, ...given]),
  '-FLAGS': (flags, given) => new Set([...flags].filter((flag) => !given.includes(flag))),
};

/** Sets the flags of an item. Of a message, `\Seen` and `\Flagged` are what the API shows. */
export function setFlags(inbox: ImapInbox, folder: Folder, item: Item, flags: ReadonlySet<string>): void {
  const message = inbox.messageOf(item);
  const own = [...flags].filter((flag) => !message || (flag !== '\\Seen' && flag !== '\\Flagged'));
  const isSame = own.length === item.flags.size && own.every((flag) => item.flags.has(flag));
  item.flags.clear();
  for (const flag of own) item.flags.add(flag);
  const [isRead, isStarred] = [flags.has('\\Seen'), flags.has('\\Flagged')];
  if (message && (message.isRead !== isRead || message.isStarred !== isStarred)) {
    inbox.world.messages.update(message.id, { isRead, isStarred });
  } else if (!isSame) folder.notify(item, 'flags');
}
