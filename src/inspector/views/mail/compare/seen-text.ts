// The names of CSS properties are American. cspell:ignoreRegExp /[a-z]*color/gi
/** Whether a person sees a piece of text. `unknown`: the page cannot tell. `person`: only a person sees it. */
export type Sight = 'seen' | 'hidden' | 'unknown' | 'person';

/** A piece of the text of a mail. */
export interface TextPiece {
  readonly text: string;
  readonly sight: Sight;
  /** Why it is not plainly seen, in a few words; empty if it is. */
  readonly reason: string;
  /** The number of its line. */
  readonly line: number;
}

/** The text of a mail, and what a person sees of it. */
export interface SeenText {
  readonly pieces: readonly TextPiece[];
  /** How many pictures it has. What they show cannot be told. */
  readonly pictures: number;
  /** Whether the mail is so long that only its beginning was looked at. */
  readonly isCut: boolean;
}

/** How many texts, comments and elements of a mail are looked at. */
const MAX_NODES = 20_000;

/** The elements whose text is code. */
const CODE = new Set(['SCRIPT', 'STYLE']);

// An element of the mail can be named `parentElement`, and would hide this property of its form. So the properties of
// the prototypes are read.
const parentOf = getterOf<Element | null>(Node.prototype, 'parentElement');
const typeOf = getterOf<number>(Node.prototype, 'nodeType');
const tagOf = getterOf<string>(Element.prototype, 'tagName');
const rectOf = (element: Element): DOMRect => Element.prototype.getBoundingClientRect.call(element);

function getterOf<Value>(prototype: object, name: string): (target: object) => Value {
  const get = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  return (target) => get?.call(target) as Value;
}

/**
 * Reads the text of a mail that is shown in a frame, and judges by the layout of the browser what a person sees. The
 * document is changed: every element can be hit by a pointer afterwards, so that covered text is found.
 */
export function readSeenText(document: Document): SeenText {
  const root = Document.prototype.querySelector.call(document, ':root');
  if (!root) return { pieces: [], pictures: 0, isCut: false };
  const { SHOW_ELEMENT, SHOW_TEXT, SHOW_COMMENT } = NodeFilter;
  const walker = Document.prototype.createTreeWalker.call(document, root, SHOW_ELEMENT | SHOW_TEXT | SHOW_COMMENT);
  const nodes: Node[] = [];
  while (nodes.length < MAX_NODES && walker.nextNode()) nodes.push(walker.currentNode);
  const isCut = walker.nextNode() !== null;
  const judge = createJudge(document);
  for (const node of nodes) if (isElement(node)) judge.makeHittable(node);
  const pieces: TextPiece[] = [];
  let pictures = 0;
  let line = 0;
  let block: Element | null = null;
  const add = (text: string, parent: Element | null, [sight, reason]: Judgement) => {
    const ownBlock = parent && judge.blockOf(parent);
    if (ownBlock !== block) line += 1;
    block = ownBlock;
    pieces.push({ text, sight, reason, line });
  };
  // What the style writes behind an element comes after everything in the element.
  const waiting: { readonly element: Element; readonly text: string }[] = [];
  const addWaiting = (next?: Node) => {
    for (let last = waiting.at(-1); last; last = waiting.at(-1)) {
      if (next && Node.prototype.contains.call(last.element, next)) return;
      add(last.text, last.element, WRITTEN_BY_STYLE);
      waiting.pop();
    }
  };
  for (const node of nodes) {
    addWaiting(node);
    if (typeOf(node) === Node.COMMENT_NODE) {
      const text = (node as Comment).data.trim();
      // Mail for Outlook has comments such as `[if mso]`, which are conditions.
      if (text !== '' && !/^(?:\[if|<!\[|\[endif)/i.test(text)) add(text, null, ['hidden', 'a comment in the HTML']);
    } else if (isElement(node)) {
      if (tagOf(node) === 'BR') line += 1;
      if (tagOf(node) === 'IMG') {
        pictures += 1;
        const alt = Element.prototype.getAttribute.call(node, 'alt')?.trim();
        if (alt) add(alt, node, ['unknown', 'the text of a picture, which is shown only without the picture']);
      }
      const { before, after } = judge.textsOfStyle(node);
      if (before !== '') add(before, node, WRITTEN_BY_STYLE);
      if (after !== '') waiting.push({ element: node, text: after });
    } else {
      const { data, parentElement } = node as Text;
      if (!parentElement || data.trim() === '' || CODE.has(tagOf(parentElement))) continue;
      const judgement = judge.judgeText(node as Text, parentElement);
      for (const part of splitInvisible(data.replace(/\s+/g, ' '))) {
        add(part.text, parentElement, part.reason === '' ? judgement : ['hidden', part.reason]);
      }
    }
  }
  addWaiting();
  return { pieces, pictures, isCut };
}

/** Returns the pieces of a plain text, in which only some characters are invisible. */
export function readPlainText(text: string): SeenText {
  const pieces = splitInvisible(text).map(({ text, reason }): TextPiece => {
    return { text, reason, sight: reason === '' ? 'seen' : 'hidden', line: 0 };
  });
  return { pieces, pictures: 0, isCut: false };
}

type Judgement = readonly [sight: Sight, reason: string];

const SEEN: Judgement = ['seen', ''];

const WRITTEN_BY_STYLE: Judgement = ['person', 'written by the style, not in the text'];

function isElement(node: Node): node is Element {
  return typeOf(node) === Node.ELEMENT_NODE;
}

function createJudge(document: Document) {
  const styles = new Map<Element, CSSStyleDeclaration>();
  const styleOf = (element: Element): CSSStyleDeclaration => {
    const style = styles.get(element) ?? getComputedStyle(element);
    styles.set(element, style);
    return style;
  };
  const elementAt = (x: number, y: number) => Document.prototype.elementFromPoint.call(document, x, y);
  const boxes = new Map<Element, Judgement>();

  /** Judges what an element and its ancestors do to all text in them. */
  const judgeBox = (element: Element): Judgement => {
    const known = boxes.get(element);
    if (known) return known;
    const parent = parentOf(element);
    const own = judgeStyle(element, styleOf(element));
    const outer = parent ? judgeBox(parent) : SEEN;
    const result = worse(outer, own);
    boxes.set(element, result);
    return result;
  };

  const judgeText = (text: Text, parent: Element): Judgement => {
    const box = judgeBox(parent);
    if (box[0] === 'hidden') return box;
    if (isInClosedDetails(parent)) return CLOSED;
    if (!Element.prototype.checkVisibility.call(parent)) return NO_ROOM;
    const style = styleOf(parent);
    const range = new Range();
    range.selectNodeContents(text);
    const rects = [...range.getClientRects()].filter(({ width, height }) => width >= 1 && height >= 1);
    if (rects.length === 0) return NO_ROOM;
    const byPlace = judgePlace(rects, parent, styleOf);
    if (byPlace[0] === 'hidden') return byPlace;
    const byColour = judgeColour(parent, style, styleOf);
    return [box, byPlace, byColour, isCovered(rects, parent) ? COVERED : SEEN].reduce(worse);
  };

  const isCovered = ([rect]: readonly DOMRect[], parent: Element): boolean => {
    if (!rect) return false;
    const hit = elementAt(rect.left + Math.min(rect.width / 2, 20), rect.top + rect.height / 2);
    return hit !== null && !isInside(hit, parent) && !isInside(parent, hit);
  };

  return {
    judgeText,
    makeHittable(element: Element): void {
      if (styleOf(element).pointerEvents !== 'none') return;
      const style = Element.prototype.getAttribute.call(element, 'style') ?? '';
      Element.prototype.setAttribute.call(element, 'style', `${style};pointer-events:auto!important`);
    },
    /** Returns what the style writes before and behind the content of an element. */
    textsOfStyle(element: Element): { readonly before: string; readonly after: string } {
      const textOf = (pseudo: string) => {
        const [, text = ''] = /^"((?:[^"\\]|\\.)*)"/.exec(getComputedStyle(element, pseudo).content) ?? [];
        return text.trim() === '' || judgeBox(element)[0] === 'hidden' ? '' : text;
      };
      return { before: textOf('::before'), after: textOf('::after') };
    },
    /** Returns the element that makes the line in which an element stands. */
    blockOf(element: Element): Element {
      let block = element;
      for (
        let next = parentOf(block);
        next && /^inline|^none|contents/.test(styleOf(block).display);
        next = parentOf(block)
      )
        block = next;
      return block;
    },
  };
}

const NO_ROOM: Judgement = ['hidden', 'it has no room in the layout'];

const COVERED: Judgement = ['unknown', 'another part of the mail lies over it'];

const RANK: Readonly<Record<Sight, number>> = { seen: 0, person: 0, unknown: 1, hidden: 2 };

/** Returns the judgement that is further from being seen. */
function worse(one: Judgement, other: Judgement): Judgement {
  return RANK[other[0]] > RANK[one[0]] ? other : one;
}

function isInside(inner: Element, outer: Element): boolean {
  for (let each: Element | null = inner; each; each = parentOf(each)) if (each === outer) return true;
  return false;
}

/** Judges an element by its own style. */
function judgeStyle(element: Element, style: CSSStyleDeclaration): Judgement {
  const { display, visibility, opacity, clip, clipPath, filter, mixBlendMode, animationName, position } = style;
  if (tagOf(element) === 'TITLE') return ['hidden', 'the title of the HTML'];
  if (display === 'none') return ['hidden', 'display: none'];
  if (visibility !== 'visible') return ['hidden', `visibility: ${visibility}`];
  const size = Number.parseFloat(style.fontSize);
  if (size <= 2) return ['hidden', `font-size: ${style.fontSize}`];
  if (Number(opacity) < 0.05) return ['hidden', `opacity: ${opacity}`];
  if (/^(?:inset\((?:50|100)%|circle\(0)/.test(clipPath)) return ['hidden', `clip-path: ${clipPath}`];
  const isClipped = clip !== 'auto' && (position === 'absolute' || position === 'fixed');
  if (isClipped && /rect\((?:[01]px,? ?){4}\)/.test(clip)) return ['hidden', `clip: ${clip}`];
  const doubts: readonly (readonly [isDoubtful: boolean, reason: string])[] = [
    [size < 6, `font-size: ${style.fontSize}`],
    [Number(opacity) < 0.4, `opacity: ${opacity}`],
    [clipPath !== 'none' || isClipped, 'it may be cut off'],
    [filter !== 'none' || mixBlendMode !== 'normal', 'a filter changes its colours'],
    [(style.maskImage || 'none') !== 'none', 'a mask may hide it'],
    [animationName !== 'none', 'it is animated'],
    [/override/.test(style.unicodeBidi), 'its letters are shown in another order'],
  ];
  const reason = doubts.find(([isDoubtful]) => isDoubtful)?.[1];
  return reason === undefined ? SEEN : ['unknown', reason];
}

const CLOSED: Judgement = ['unknown', 'it is shown only if a person opens it'];

/** Returns whether an element is in a closed `details` element, outside of its summary. */
function isInClosedDetails(element: Element): boolean {
  let below: Element | undefined;
  for (let each: Element | null = element; each; each = parentOf(each)) {
    const isClosed = tagOf(each) === 'DETAILS' && !Element.prototype.hasAttribute.call(each, 'open');
    if (isClosed && (!below || tagOf(below) !== 'SUMMARY')) return true;
    below = each;
  }
  return false;
}

/** How far to the right or below text may be, in pixels. Nobody scrolls further. */
const FAR = 20_000;

/** Judges whether text is outside of the page, or cut off by an element around it. */
function judgePlace(
  rects: readonly DOMRect[],
  parent: Element,
  styleOf: (element: Element) => CSSStyleDeclaration,
): Judgement {
  const isOnPage = ({ right, bottom, left, top }: DOMRect) => right > 0 && bottom > 0 && left < FAR && top < FAR;
  let shown = rects.filter(isOnPage).map(({ left, top, right, bottom }) => ({ left, top, right, bottom }));
  if (shown.length === 0) return ['hidden', 'it is outside of the page'];
  const areaOf = (all: typeof shown) =>
    all.reduce((sum, { left, top, right, bottom }) => sum + Math.max(0, right - left) * Math.max(0, bottom - top), 0);
  const wholeArea = areaOf(rects.map(({ left, top, right, bottom }) => ({ left, top, right, bottom })));
  let position = 'static';
  for (let each: Element | null = parent; each; each = parentOf(each)) {
    const style = styleOf(each);
    const holds = style.position !== 'static' || style.transform !== 'none';
    // What has a place of its own is not cut off by elements that do not hold it.
    const escapes = position === 'fixed' ? style.transform === 'none' : position === 'absolute' && !holds;
    if (!escapes && parentOf(each) && /hidden|clip/.test(style.overflow + style.overflowX)) {
      const box = rectOf(each);
      shown = shown
        .map(({ left, top, right, bottom }) => ({
          left: Math.max(left, box.left),
          top: Math.max(top, box.top),
          right: Math.min(right, box.right),
          bottom: Math.min(bottom, box.bottom),
        }))
        .filter(({ left, top, right, bottom }) => right - left >= 1 && bottom - top >= 1);
      if (shown.length === 0) return ['hidden', 'it is cut off'];
    }
    if (!escapes) position = style.position;
  }
  return areaOf(shown) < wholeArea * 0.5 ? ['unknown', 'a part of it is cut off'] : SEEN;
}

type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** Parses a computed colour, such as `rgb(0, 0, 0)`; `undefined` for other forms, such as `color(display-p3 1 0 0)`. */
function parseColour(text: string): Colour | undefined {
  if (!/^rgba?\(/.test(text)) return undefined;
  const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue, alpha];
}

/** Judges whether text has the colour of what is behind it. */
function judgeColour(
  parent: Element,
  style: CSSStyleDeclaration,
  styleOf: (element: Element) => CSSStyleDeclaration,
): Judgement {
  const text = parseColour(style.webkitTextFillColor || style.color);
  if (text && text[3] < 0.05) return ['hidden', 'its colour is transparent'];
  const layers: Colour[] = [];
  let isPlain = text !== undefined;
  for (let each: Element | null = parent; each; each = parentOf(each)) {
    const { backgroundColor, backgroundImage } = styleOf(each);
    if (backgroundImage !== 'none') return ['unknown', 'there is a picture or a gradient behind it'];
    const layer = parseColour(backgroundColor);
    if (!layer) isPlain = false;
    else if (layer[3] > 0) layers.push(layer);
    if (layer?.[3] === 1) break;
  }
  if (!isPlain || !text) return ['unknown', 'its colour cannot be compared with what is behind it'];
  const back = layers.reduceRight<Colour>(blend, [255, 255, 255, 1]);
  const contrast = contrastOf(blend(back, text), back);
  if (contrast >= 1.6) return SEEN;
  const ratio = `its colour differs from what is behind it by only ${contrast.toFixed(2)} to 1`;
  return contrast < 1.15 && style.textShadow === 'none' ? ['hidden', ratio] : ['unknown', ratio];
}

/** Returns the colour of a layer over another one. */
function blend(below: Colour, [red, green, blue, alpha]: Colour): Colour {
  const mix = (over: number, under: number) => over * alpha + under * (1 - alpha);
  return [mix(red, below[0]), mix(green, below[1]), mix(blue, below[2]), 1];
}

/** Returns the contrast of two colours as WCAG defines it: from 1 to 21. */
function contrastOf(one: Colour, other: Colour): number {
  const [dark, light] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminanceOf([red, green, blue]: Colour): number {
  const [r, g, b] = [red, green, blue].map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * Matches characters that no font shows: tags, and long runs of joiners and selectors. The flag of a region, such as that
 * of Wales, also consists of tags, and is matched so that it can be left out.
 */
const INVISIBLE =
  /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,6}\u{e007f}|[\u{e0020}-\u{e007e}]+|(?:[\u200b\u2060\ufeff]|\u200c|\u200d|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]){8,}/gu;

/** Splits a text at characters that no font shows. Tags stand for letters, and are replaced by them. */
export function splitInvisible(text: string): { readonly text: string; readonly reason: string }[] {
  const parts: { readonly text: string; readonly reason: string }[] = [];
  let end = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    if (match[0].startsWith('\u{1f3f4}')) continue;
    if (match.index > end) parts.push({ text: text.slice(end, match.index), reason: '' });
    const letters = [...match[0]].map((letter) => letter.codePointAt(0) ?? 0);
    const isTag = letters.every((code) => code >= 0xe0020 && code <= 0xe007e);
    const shown = isTag
      ? String.fromCodePoint(...letters.map((code) => code - 0xe0000))
      : `${letters.length} characters from U+${letters[0]?.toString(16).toUpperCase().padStart(4, '0')}`;
    parts.push({ text: shown, reason: 'characters that no font shows' });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), reason: '' });
  return parts;
}
