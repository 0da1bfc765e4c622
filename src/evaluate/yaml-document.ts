import { isAlias, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument, type YAMLMap } from 'yaml';

/** What is wrong with a text of YAML. */
export class YamlProblem extends Error {
  override readonly name = 'YamlProblem';
  /** The line, from 1. */
  readonly line: number;
  /** The part that is wrong; undefined if the text could not be parsed. The message then is that of the parser. */
  readonly path: readonly PropertyKey[] | undefined;
  /** What would be right, to be added to the message; empty if nothing is known. */
  readonly advice: string;

  constructor(message: string, place: Pick<YamlProblem, 'line' | 'path'>, advice = '') {
    super(message);
    this.line = place.line;
    this.path = place.path;
    this.advice = advice;
  }
}

/** A value that was read, and where its parts are. */
export interface YamlValue {
  /** The value: objects, lists, texts, numbers, true, false and null. */
  readonly value: unknown;
  /** Returns the line of the part at a path or, if there is no such part, of the nearest part around it. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** What would be right, by the code of a problem that the parser finds. */
const ADVICE: Readonly<Record<string, string>> = {
  BAD_ALIAS: '; put the text in quotes',
  BAD_SCALAR_START: '; put the text in quotes',
  BLOCK_AS_IMPLICIT_KEY: '; put a text that has a colon in quotes',
  UNEXPECTED_TOKEN: '; put a text that begins with a sign such as [, {, >, |, - or ? in quotes',
  MULTIPLE_DOCS: '; write several scenarios as one list, without ---',
};

/** The tags that say what a value is anyway. */
const USUAL_TAG = /^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/;

/** How many times larger than the text its value may be, because references repeat parts of it. */
const MOST_REPEATED = 10;

/** How many parts any text may repeat. */
const ALWAYS_REPEATED = 1_000;

/** A part of the text that was read. */
interface Part {
  readonly value: unknown;
  /** How many parts it has, itself included, and those that references repeat. */
  readonly size: number;
}

/**
 * Reads a text of YAML 1.2. The work is proportional to the text: unlike the library, it looks names up in an index, for
 * keys that are there twice, references and lines.
 *
 * @throws {YamlProblem} if the text cannot be parsed, and for what is likely to be a text without quotes, such as `*@x`.
 */
export function readYaml(text: string): YamlValue {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, version: '1.2', uniqueKeys: false } as const;
  const document = parseDocument(text, options);
  const lineAt = (node: { readonly range?: readonly number[] | null }) => lines.linePos(node.range?.[0] ?? 0).line;
  const [error] = document.errors;
  if (error) {
    const message = error.code === 'MULTIPLE_DOCS' ? 'it has more than one document' : error.message.replace(/\.$/, '');
    throw new YamlProblem(message, { line: lines.linePos(error.pos[0]).line, path: undefined }, ADVICE[error.code]);
  }

  /** The pairs of each map by the text of their keys. */
  const pairs = new Map<YAMLMap, Map<string, { readonly key: ParsedNode; readonly value: ParsedNode | null }>>();
  /** The parts with a name, to which references may lead, when they have been read. */
  const named = new Map<string, { readonly node: ParsedNode; readonly part: Part }>();
  let nodes = 0;

  function read(node: ParsedNode | null, path: readonly PropertyKey[]): Part {
    nodes += 1;
    if (node === null) return { value: null, size: 1 };
    const refuse = (message: string, advice = '', at: ParsedNode = node): never => {
      throw new YamlProblem(message, { line: lineAt(at), path }, advice);
    };
    if (isAlias(node)) {
      const found = named.get(node.source);
      if (found) return found.part;
      const written = `*${node.source}`;
      return refuse(`has ${written}, which refers to nothing in YAML`, `; for a text, put it in quotes: '${written}'`);
    }
    if (node.tag !== undefined && !USUAL_TAG.test(node.tag)) {
      refuse('has a tag, which begins with ! in YAML', '; for a text that begins with !, put it in quotes');
    }
    const part = isMap(node) ? readMap(node, path) : isSeq(node) ? readSeq(node, path) : { value: node.value, size: 1 };
    if (node.anchor !== undefined) named.set(node.anchor, { node, part });
    return part;
  }

  function readMap(node: YAMLMap<ParsedNode, ParsedNode | null>, path: readonly PropertyKey[]): Part {
    const known = new Map<string, { readonly key: ParsedNode; readonly value: ParsedNode | null }>();
    const entries: [string, unknown][] = [];
    let size = 1;
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : undefined;
      const refuse = (message: string) => {
        throw new YamlProblem(message, { line: lineAt(key), path: [...path, name ?? String(key)] });
      };
      // The place of a parameter without quotes, such as {{question}}.
      const [, placed] = isMap(key) ? (/^\{"([a-z][\w-]*)":null\}$/i.exec(String(key)) ?? []) : [];
      if (placed !== undefined) {
        throw new YamlProblem(`must be in quotes: '{{${placed}}}'`, { line: lineAt(key), path });
      }
      if (name === undefined) refuse('must not be a name, because it is not a text');
      else if (known.has(name)) refuse('is there twice; remove one of them');
      // An object that gets this name from elsewhere would have other properties.
      else if (name === '__proto__') refuse('is unknown');
      else {
        known.set(name, { key, value });
        const part = read(value, [...path, name]);
        entries.push([name, part.value]);
        size += part.size;
      }
    }
    pairs.set(node, known);
    return { value: Object.fromEntries(entries), size };
  }

  function readSeq(node: { readonly items: readonly ParsedNode[] }, path: readonly PropertyKey[]): Part {
    const parts = node.items.map((item, index) => read(item, [...path, index]));
    return { value: parts.map(({ value }) => value), size: parts.reduce((sum, part) => sum + part.size, 1) };
  }

  const { value, size } = read(document.contents, []);
  if (size > nodes * MOST_REPEATED + ALWAYS_REPEATED) {
    throw new YamlProblem('its references repeat too many parts', { line: 1, path: undefined });
  }

  const lineOf = (path: readonly PropertyKey[]) => {
    let node: unknown = document.contents;
    let line = isMap(node) || isSeq(node) || isScalar(node) ? lineAt(node) : 1;
    for (const step of path) {
      if (isAlias(node)) node = named.get(node.source)?.node;
      if (isMap(node)) {
        const pair = pairs.get(node)?.get(String(step));
        if (!pair) break;
        line = lineAt(pair.key);
        node = pair.value;
      } else if (isSeq(node)) {
        const item = node.items[Number(step)] as ParsedNode | undefined;
        if (!item) break;
        line = lineAt(item);
        node = item;
      } else break;
    }
    return line;
  };
  return { value, lineOf };
}
