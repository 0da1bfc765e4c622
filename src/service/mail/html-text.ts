import { Tokenizer } from 'htmlparser2';

/** What HTML says, to a reader and besides. */
export interface HtmlText {
  /** The text that a reader sees, with each block on its own line, and the texts of pictures. Within a word, a tag leaves no space. */
  readonly shown: string;
  /** The shown text without what the HTML marks as the quote of another mail. */
  readonly own: string;
  /**
   * What a reader does not see: the text of the whole HTML with that of hidden elements in its place, if there is such
   * text, and each comment, script, style sheet and value of an attribute, except addresses of links.
   */
  readonly hidden: readonly string[];
  /** The addresses of the links, the images and the forms, as they are written. */
  readonly links: readonly string[];
}

/** Elements that begin and end on a line of their own. */
const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote br center dd details dialog div dl dt fieldset figcaption figure footer form h1 ' +
    'h2 h3 h4 h5 h6 header hr li main nav ol option p pre section summary table tbody tfoot thead tr ul'
  ).split(' '),
);

/** Elements between which a reader sees a space. */
const CELLS: ReadonlySet<string> = new Set(['td', 'th', 'img', 'input', 'button', 'select', 'textarea']);

/** Elements whose content a reader does not see. */
const UNSEEN: ReadonlySet<string> = new Set(
  'head title script style template noscript noembed noframes iframe object audio video canvas datalist'.split(' '),
);

/** Elements that have no content, and so no end. */
const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);

/** Elements that end where the next of their kind begins. */
const WITHOUT_END: ReadonlySet<string> = new Set('p li dt dd option'.split(' '));

/** Attributes that have an address. */
const LINKS: ReadonlySet<string> = new Set(
  'action background cite data formaction href longdesc poster src srcset xlink:href'.split(' '),
);

/** The styles by which mail hides text. */
const HIDING =
  /display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:font-size|opacity|max-height|line-height)\s*:\s*0(?![.\d]*[1-9])|mso-hide\s*:\s*all/i;

/** The classes and ids by which mail programs mark a quote. */
const QUOTES = /(?:^|\s)(?:gmail_quote|gmail_attr|moz-cite-prefix|yahoo_quoted|protonmail_quote)(?:\s|$)/;

/** The ids of what mail programs put before a quote that has no element of its own: all that follows is the quote. */
const BEFORE_QUOTES: ReadonlySet<string> = new Set(['divRplyFwdMsg', 'appendonsend']);

/** An element that is open, and how many of the same name are open within it. */
interface Open {
  readonly name: string;
  depth: number;
}

/** Reads what HTML says. The work is proportional to its length, also for HTML with errors. */
export function readHtml(html: string): HtmlText {
  const reader = new HtmlReader(html);
  const tokenizer = new Tokenizer({}, reader);
  tokenizer.write(html);
  tokenizer.end();
  return reader.result();
}

// cspell:ignoreRegExp /\bon(?:text|comment|cdata|opentag|attrib|selfclosing|close|declaration|processing)\w*/g

/** Collects what a tokenizer finds. The places are those in the HTML. */
class HtmlReader {
  readonly #html: string;
  readonly #shown: string[] = [];
  readonly #own: string[] = [];
  /** The text with that of hidden elements. */
  readonly #all: string[] = [];
  readonly #further: string[] = [];
  readonly #links: string[] = [];
  #hasHidden = false;
  #hiding: Open | undefined;
  #quoting: Open | undefined;
  #isRestQuoted = false;
  #tag = '';
  #attribute = '';
  #value: string[] = [];
  /** What stands for the picture of the tag. */
  #alternative = '';
  #hidesTag = false;
  #quotesTag = false;

  constructor(html: string) {
    this.#html = html;
  }

  result(): HtmlText {
    const join = (parts: readonly string[]) => parts.join('');
    const hidden = this.#hasHidden ? [join(this.#all), ...this.#further] : this.#further;
    return { shown: join(this.#shown), own: join(this.#own), hidden, links: this.#links };
  }

  #add(text: string): void {
    this.#all.push(text);
    if (this.#hiding) {
      this.#hasHidden = true;
      return;
    }
    this.#shown.push(text);
    if (!this.#quoting && !this.#isRestQuoted) this.#own.push(text);
  }

  /** Puts what follows on a new line or, after a cell, behind a space. */
  #separate(name: string): void {
    if (UNSEEN.has(name)) this.#all.push('\n');
    else if (BLOCKS.has(name)) this.#add('\n');
    else if (CELLS.has(name)) this.#add(' ');
  }

  ontext(start: number, end: number): void {
    this.#add(this.#html.slice(start, end));
  }

  ontextentity(code: number): void {
    this.#add(String.fromCodePoint(code));
  }

  /** Of the sign that ends a comment, `endLength` characters are before the end. */
  oncomment(start: number, end: number, endLength: number): void {
    this.#further.push(this.#html.slice(start, end - endLength));
  }

  oncdata(start: number, end: number, endLength: number): void {
    this.oncomment(start, end, endLength);
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#html.slice(start, end).toLowerCase();
    this.#hidesTag = UNSEEN.has(this.#tag);
    this.#quotesTag = this.#tag === 'blockquote';
    this.#alternative = '';
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#html.slice(start, end).toLowerCase();
    this.#value = [];
  }

  onattribdata(start: number, end: number): void {
    this.#value.push(this.#html.slice(start, end));
  }

  onattribentity(code: number): void {
    this.#value.push(String.fromCodePoint(code));
  }

  onattribend(): void {
    const value = this.#value.join('');
    if (this.#attribute === 'hidden') this.#hidesTag = true;
    if (this.#attribute === 'style' && HIDING.test(value)) this.#hidesTag = true;
    if (this.#attribute === 'class' && QUOTES.test(value)) this.#quotesTag = true;
    if (this.#attribute === 'id' && BEFORE_QUOTES.has(value)) this.#isRestQuoted = true;
    if (value === '') return;
    if (this.#attribute === 'alt' && this.#tag === 'img') this.#alternative = value;
    else if (LINKS.has(this.#attribute)) this.#links.push(value);
    else this.#further.push(value);
  }

  onopentagend(): void {
    const name = this.#tag;
    if (WITHOUT_END.has(name)) {
      if (this.#hiding?.name === name) this.#hiding = undefined;
      if (this.#quoting?.name === name) this.#quoting = undefined;
    }
    this.#separate(name);
    if (this.#alternative !== '') this.#addPicture();
    if (VOID.has(name)) return;
    if (this.#hiding?.name === name) this.#hiding.depth += 1;
    if (this.#quoting?.name === name) this.#quoting.depth += 1;
    if (this.#hidesTag) this.#hiding ??= { name, depth: 1 };
    if (this.#quotesTag) this.#quoting ??= { name, depth: 1 };
  }

  /** Adds what stands for a picture. A reader sees the picture or, where it is not loaded, this text. */
  #addPicture(): void {
    if (this.#hidesTag) this.#further.push(this.#alternative);
    else this.#add(`${this.#alternative} `);
  }

  /** In HTML, the slash of `<div/>` has no meaning. */
  onselfclosingtag(): void {
    this.onopentagend();
  }

  onclosetag(start: number, end: number): void {
    const name = this.#html.slice(start, end).toLowerCase();
    this.#separate(name);
    if (this.#hiding?.name === name) {
      this.#hiding.depth -= 1;
      if (this.#hiding.depth === 0) this.#hiding = undefined;
    }
    if (this.#quoting?.name === name) {
      this.#quoting.depth -= 1;
      if (this.#quoting.depth === 0) this.#quoting = undefined;
    }
  }

  ondeclaration(): void {}

  onprocessinginstruction(): void {}

  onend(): void {}
}
