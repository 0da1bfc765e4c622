/** An address as a header field writes it, in its parts. */
export interface ListedAddress {
  /**
   * The words before the address, or else the last comment beside it; encoded words are not decoded. If the text has no
   * address at all, this is the whole text, and the other parts are empty.
   */
  readonly name: string;
  /** The servers that an obsolete address names before its mailbox, such as `@a.test,@b.test`. */
  readonly route: string | undefined;
  /** The part before the `@`, without quotes; empty if it is missing. */
  readonly local: string;
  /** The part after the `@`; empty if it is missing. */
  readonly domain: string;
}

/** A group of addresses, such as `Team: ada@acme.test, bo@acme.test;`. */
export interface AddressGroup {
  readonly name: string;
  readonly members: readonly ListedAddress[];
}

/** The addresses of a header field. */
export interface AddressList {
  readonly entries: readonly (ListedAddress | AddressGroup)[];
  /** Whether the text follows the grammar, so that nothing had to be guessed or left out. */
  readonly isWellFormed: boolean;
}

/**
 * Reads the addresses of a header field by RFC 5322, section 3.4, with the obsolete forms of section 4.4: comments,
 * groups, routes, spaces within addresses, and domain literals. Reads on behind what breaks the grammar, so that no
 * address is lost. Each character stands for itself, so the text may be decoded or consist of bytes.
 */
export function readAddressList(text: string): AddressList {
  return new AddressReader(text).read();
}

/** Returns every address of a list; a group is replaced by its members. */
export function flattenAddresses({ entries }: AddressList): ListedAddress[] {
  return entries.flatMap((entry) => ('members' in entry ? entry.members : [entry]));
}

/** A word, a quoted text, or an `@` or `,` that stands for itself. */
interface Piece {
  text: string;
  readonly kind: 'word' | 'quoted' | 'at' | 'comma';
  /** Whether white space or a comment is before it. */
  readonly isSpaced: boolean;
}

// White space is listed, because `\s` also matches a byte of some letters in UTF-8.
const SPACE = /[ \t\r\n]+/y;
const WORD = /[^ \t\r\n()<>[\]:;@\\,"]+/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const LITERAL = /\[[^[\]<>,;\\]*\]/y;

class AddressReader {
  readonly #text: string;
  #at = 0;
  #isWellFormed = true;
  readonly #entries: (ListedAddress | AddressGroup)[] = [];
  #group: { readonly name: string; readonly members: ListedAddress[] } | undefined;
  /** What was read of the present address outside of angle brackets, and within them. */
  #outside: Piece[] = [];
  #inside: Piece[] | undefined;
  #isInside = false;
  #route: string | undefined;
  #comment = '';
  #isSpaced = false;
  /** Whether the rest of the text has no more end of a quoted text. */
  #hasNoQuoteEnd = false;
  /** The end of each comment from a place at which a comment does not end. */
  #commentEnds: Map<number, number> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  read(): AddressList {
    while (this.#at < this.#text.length) {
      const start = this.#at;
      this.#readNext(this.#text.charAt(start));
      if (this.#at === start) this.#at += 1;
    }
    this.#endAddress();
    this.#endGroup();
    return { entries: this.#entries, isWellFormed: this.#isWellFormed };
  }

  /** Reads what begins with this character. A reader that does not move on has used only this character. */
  #readNext(character: string): void {
    if (character === '"') this.#readQuoted();
    else if (character === '(') this.#readComment();
    else if (character === '<') this.#openAngle();
    else if (character === '>') this.#closeAngle();
    else if (character === '@') this.#add('at', '@');
    else if (character === ',') this.#readComma();
    else if (character === ':') this.#readColon();
    else if (character === ';') this.#readSemicolon();
    else if (character === '\\') this.#readEscaped();
    else if (character === '[' || character === ']') this.#readBracket(character);
    else if (character === ')') this.#isWellFormed = false;
    else if (this.#match(SPACE)) this.#isSpaced = true;
    else this.#add('word', this.#match(WORD)?.[0] ?? '');
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #add(kind: Piece['kind'], text: string): void {
    const pieces = this.#isInside ? (this.#inside ?? []) : this.#outside;
    const last = pieces.at(-1);
    if (kind === 'word' && last?.kind === 'word' && !this.#isSpaced) last.text += text;
    else pieces.push({ kind, text, isSpaced: this.#isSpaced });
    this.#isSpaced = false;
  }

  /** Reads a quoted text. Quotation marks without an end are left out. */
  #readQuoted(): void {
    const found = this.#hasNoQuoteEnd ? undefined : this.#match(QUOTED);
    if (found) this.#add('quoted', unescapeQuoted(found[1] ?? ''));
    else {
      this.#hasNoQuoteEnd = true;
      this.#isWellFormed = false;
    }
  }

  /** Reads a comment, which may contain comments. A parenthesis without an end is left out. */
  #readComment(): void {
    const end = this.#commentEnds ? this.#commentEnds.get(this.#at) : this.#findCommentEnd();
    this.#isSpaced = true;
    if (end === undefined) {
      this.#isWellFormed = false;
      return;
    }
    this.#comment = unescapeQuoted(this.#text.slice(this.#at + 1, end - 1)).trim();
    this.#at = end;
  }

  /** Finds where a comment ends. If it does not end, remembers where the comments behind this place end. */
  #findCommentEnd(): number | undefined {
    const starts: number[] = [];
    const ends = new Map<number, number>();
    for (let at = this.#at; at < this.#text.length; at += 1) {
      const character = this.#text[at];
      if (character === '\\') at += 1;
      else if (character === '(') starts.push(at);
      else if (character === ')') {
        const start = starts.pop();
        if (start === undefined) continue;
        if (start === this.#at) return at + 1;
        ends.set(start, at + 1);
      }
    }
    this.#commentEnds = ends;
    return undefined;
  }

  #openAngle(): void {
    // `Bo <old <bo@a.test>` has one address, and `<ada@a.test> <bo@a.test>`, in which a comma is missing, has two.
    if (this.#inside) {
      this.#isWellFormed = false;
      if (!this.#isInside) this.#endAddress();
    }
    this.#inside = [];
    this.#isInside = true;
    this.#isSpaced = false;
  }

  #closeAngle(): void {
    if (!this.#isInside) this.#isWellFormed = false;
    this.#isInside = false;
    this.#isSpaced = true;
  }

  /** Ends an address, unless the comma is between two servers of a route. */
  #readComma(): void {
    const isAfterServer = this.#isInside && this.#route === undefined && this.#inside?.[0]?.kind === 'at';
    if (isAfterServer) {
      this.#at += 1;
      this.#match(SPACE);
    }
    const next = this.#text[this.#at];
    if (isAfterServer && (next === '@' || next === ',')) this.#add('comma', ',');
    else this.#endAddress();
  }

  #readColon(): void {
    if (this.#isInside && this.#inside) this.#readColonInside(this.#inside);
    else this.#openGroup();
  }

  /** Reads the colon after a route. Any other colon in angle brackets belongs to the address. */
  #readColonInside(inside: readonly Piece[]): void {
    if (this.#route === undefined && inside[0]?.kind === 'at') {
      this.#route = inside.map(({ text }) => text).join('');
      this.#inside = [];
    } else {
      this.#isWellFormed = false;
      this.#add('word', ':');
    }
  }

  #openGroup(): void {
    if (this.#inside) this.#endAddress();
    const name = toPhrase(this.#outside);
    this.#startAddress();
    // A group cannot contain a group. The addresses of the inner group become members of the outer group.
    if (this.#group) this.#isWellFormed = false;
    else this.#group = { name, members: [] };
  }

  /** Ends a group. Some programs write a semicolon also between two addresses. */
  #readSemicolon(): void {
    if (!this.#group) this.#isWellFormed = false;
    this.#endAddress();
    this.#endGroup();
  }

  /** Reads a character after a backslash, which is allowed only in quotes and comments. */
  #readEscaped(): void {
    this.#isWellFormed = false;
    this.#add('word', this.#text.slice(this.#at + 1, this.#at + 2));
    this.#at += 2;
  }

  #readBracket(character: string): void {
    const isDomain = (this.#isInside ? this.#inside : this.#outside)?.at(-1)?.kind === 'at';
    const literal = isDomain && character === '[' ? this.#match(LITERAL) : undefined;
    // A bracket in a name is not allowed, but it is common and not ambiguous.
    if (literal) this.#add('word', literal[0].replace(/[ \t\r\n]+/g, ''));
    else this.#add('word', character);
  }

  #startAddress(): void {
    this.#outside = [];
    this.#inside = undefined;
    this.#isInside = false;
    this.#route = undefined;
    this.#comment = '';
    this.#isSpaced = false;
  }

  #endAddress(): void {
    if (this.#isInside) this.#isWellFormed = false;
    const addresses = this.#inside ? this.#readAngle(this.#inside) : this.#readBare();
    (this.#group?.members ?? this.#entries).push(...addresses);
    this.#startAddress();
  }

  #endGroup(): void {
    if (this.#group) this.#entries.push(this.#group);
    this.#group = undefined;
  }

  /** Reads an address in angle brackets, whose name is outside of them. */
  #readAngle(inside: readonly Piece[]): ListedAddress[] {
    const { specs, words } = splitSpecs(inside);
    const name = toPhrase(this.#outside) || this.#comment;
    if (specs.length === 0) return [{ name, route: this.#route, local: toPhrase(words), domain: '' }];
    if (specs.length > 1 || words.length > 0) this.#isWellFormed = false;
    return specs.map((spec, index) => ({
      name: index === 0 ? name || toPhrase(words) : '',
      route: this.#route,
      ...readSpec(spec),
    }));
  }

  /** Reads an address without angle brackets. */
  #readBare(): ListedAddress[] {
    const { specs, words } = splitSpecs(this.#outside);
    if (specs.length > 0) {
      if (specs.length > 1 || words.length > 0) this.#isWellFormed = false;
      const name = toPhrase(words) || this.#comment;
      return specs.map((spec, index) => ({ name: index === 0 ? name : '', route: undefined, ...readSpec(spec) }));
    }
    const [word, ...more] = words;
    if (!word) return [];
    const isLocal = more.length === 0 && word.kind === 'word' && !word.text.startsWith('=?');
    if (isLocal) return [{ name: this.#comment, route: undefined, local: word.text, domain: '' }];
    const name = `${toPhrase(words)}${this.#comment === '' ? '' : ` (${this.#comment})`}`;
    return name === '' ? [] : [{ name, route: undefined, local: '', domain: '' }];
  }
}

/**
 * Splits pieces into addresses, which contain an `@`, and the words beside them. White space does not end an address at
 * its dots and its `@`, as in `bo@test . example`.
 */
function splitSpecs(pieces: readonly Piece[]): { specs: Piece[][]; words: Piece[] } {
  const runs: Piece[][] = [];
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1];
    const isJoined = !piece.isSpaced || (before && joinsNext(before)) || joinsPrevious(piece);
    const run = runs.at(-1);
    if (run && isJoined) run.push(piece);
    else runs.push([piece]);
  }
  const isSpec = (run: readonly Piece[]) => run.some(({ kind }) => kind === 'at');
  return { specs: runs.filter(isSpec), words: runs.filter((run) => !isSpec(run)).flat() };
}

function joinsNext({ kind, text }: Piece): boolean {
  return kind === 'at' || (kind === 'word' && text.endsWith('.'));
}

function joinsPrevious({ kind, text }: Piece): boolean {
  return kind === 'at' || (kind === 'word' && text.startsWith('.'));
}

function readSpec(pieces: readonly Piece[]): { local: string; domain: string } {
  const at = pieces.findLastIndex(({ kind }) => kind === 'at');
  const join = (part: readonly Piece[]) => part.map(({ text }) => text).join('');
  return { local: join(pieces.slice(0, at)), domain: join(pieces.slice(at + 1)) };
}

/** Joins the words of a name. */
function toPhrase(pieces: readonly Piece[]): string {
  const isWord = ({ kind }: Piece) => kind === 'word' || kind === 'quoted';
  const texts = pieces.map((piece, index) => {
    const before = pieces[index - 1];
    return before && (piece.isSpaced || (isWord(before) && isWord(piece))) ? ` ${piece.text}` : piece.text;
  });
  return texts.join('').trim();
}

function unescapeQuoted(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}
