import { type Argument, CommandError, isList, type Word } from '../../../service/imap/argument.ts';

// This file has its own parser, because the parser of imapflow is for the replies of servers. It cannot read `{5+}` or
// `INBOX*`, which only clients send.

/** A command with its arguments. */
export interface Command {
  readonly tag: string;
  /** The name in upper case, without UID; empty if the line does not begin with a tag and a name. */
  readonly name: string;
  /** Whether UID is before the name, as in `UID FETCH`. */
  readonly isUid: boolean;
  readonly args: readonly Argument[];
  /** Why the line is not a valid command. Then there are no arguments. */
  readonly problem?: CommandError;
}

/** How deep lists may be nested. */
const MAX_DEPTH = 50;

/** The tag of a line. It has only printable characters, because the reply repeats it. */
const TAG = /^[!#$&',-[\]-z|}~]{1,200}(?= )/;

/** The name of a command, after the tag. */
const NAME = / (?:(uid) )?([a-z]{1,30})(?= |$)/iy;

/**
 * Parses a command. The line contains the size of each literal, such as `{5}`, and a line break, but not the bytes of
 * the literal. `literals` contains these bytes. A line that is not a valid command is returned with its `problem`,
 * because the reply to it needs its tag, which is `*` if it has none, and the journal needs its name.
 */
export function parseCommand(line: string, literals: readonly Uint8Array<ArrayBuffer>[]): Command {
  const [tag] = TAG.exec(line) ?? [];
  NAME.lastIndex = tag?.length ?? 0;
  const [named, uid, name = ''] = NAME.exec(line) ?? [];
  if (tag === undefined || named === undefined) {
    const problem = new CommandError('A command must begin with a tag and a name, such as a1 NOOP.');
    return { tag: tag ?? '*', name: '', isUid: false, args: [], problem };
  }
  const command = { tag, name: name.toUpperCase(), isUid: uid !== undefined };
  try {
    const args = new ArgumentReader(line.slice(tag.length + named.length), literals).readList();
    return { ...command, args };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { ...command, args: [], problem: error };
  }
}

class ArgumentReader {
  readonly #text: string;
  readonly #literals: readonly Uint8Array<ArrayBuffer>[];
  #position = 0;
  #nextLiteral = 0;

  constructor(text: string, literals: readonly Uint8Array<ArrayBuffer>[]) {
    this.#text = text;
    this.#literals = literals;
  }

  /** Reads arguments until the end of the list: a bracket, or the end of the text. */
  readList(depth = 0, end: ')' | ']' | '' = ''): Argument[] {
    if (depth > MAX_DEPTH) throw new CommandError(`Lists can be nested at most ${MAX_DEPTH} times.`);
    const list: Argument[] = [];
    for (;;) {
      while (this.#text[this.#position] === ' ') this.#position += 1;
      const character = this.#text[this.#position];
      if (character === undefined && end !== '') throw new CommandError(`The command ends before a ${end}.`);
      if (character === undefined || character === end) {
        this.#position += 1;
        return list;
      }
      list.push(this.#readArgument(depth, character, end === ']'));
    }
  }

  #readArgument(depth: number, character: string, isInSection: boolean): Argument {
    if (character === '"') return this.#readQuoted();
    if (character === '{') return this.#readLiteral();
    if (character !== '(') return this.#readAtom(depth, isInSection);
    this.#position += 1;
    return this.readList(depth + 1, ')');
  }

  #readQuoted(): Word {
    const [, text = ''] = this.#match(/"((?:[^"\\\r\n]|\\.)*)"/y, 'A quoted text has no end.');
    return { text: text.replace(/\\(.)/g, '$1'), isAtom: false };
  }

  #readLiteral(): Word {
    this.#match(/\{\d+\+?\}\r?\n/y, 'A literal must be written as {5}, a line break and five bytes.');
    const bytes = this.#literals[this.#nextLiteral] ?? new Uint8Array();
    this.#nextLiteral += 1;
    // Only a mail is longer than 64 KiB. APPEND uses only the bytes of a mail, so the text is not needed.
    const text = bytes.length > 64 * 1024 ? '' : Buffer.from(bytes.buffer).toString('latin1');
    return { text, isAtom: false, bytes };
  }

  /** Reads an atom, such as `FLAGS` or `BODY[TEXT]<0.10>`. In a section, `]` ends the atom. */
  #readAtom(depth: number, isInSection: boolean): Word {
    const pattern = isInSection ? /[^\s(){"\]]+/y : /(?:body(?:\.peek)?(?=\[)|[^\s(){"]+)/iy;
    const [text] = this.#match(pattern, 'The command has a character that is not allowed there.');
    if (isInSection || this.#text[this.#position] !== '[') return { text, isAtom: true };
    this.#position += 1;
    const section = this.readList(depth + 1, ']');
    // The reply repeats the section as it is written here.
    if (!isPrintable(section)) throw new CommandError('A section has only printable characters.');
    const [, partial] = /<(\d{1,10}\.[1-9]\d{0,9})>/y.exec(this.#text.slice(this.#position, this.#position + 30)) ?? [];
    if (partial !== undefined) this.#position += partial.length + 2;
    return { text, isAtom: true, section, ...(partial !== undefined && { partial }) };
  }

  #match(pattern: RegExp, problem: string): RegExpExecArray {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.#text);
    if (!match) throw new CommandError(problem);
    this.#position = pattern.lastIndex;
    return match;
  }
}

/** Returns whether all words are printable ASCII. */
function isPrintable(list: readonly Argument[]): boolean {
  return list.every((each) => (isList(each) ? isPrintable(each) : /^[ -~]*$/.test((each as Word).text)));
}
