import { dirname } from 'node:path';
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { showJsonPath } from '../basics/json-path.ts';
import { showSize } from '../basics/size.ts';
import { replaceMailFiles } from '../server/mail-files.ts';
import { CannotRunError } from './command.ts';
import { readNamedFile } from './files.ts';

/** A file of this size or more takes so long to load that the command explains why. */
const LARGE_FILE_BYTES = 20 * 1024 * 1024;

/**
 * Reads a fixture file, and the mail files that it names. Their paths are relative to the folder of the fixture file.
 * The mailbox validates the fixture later. `print` gets a sentence if the file is large, because it loads slowly.
 *
 * @throws {CannotRunError} if a file cannot be read or is not JSON.
 */
export async function readFixture(path: string, print: (line: string) => void): Promise<unknown> {
  const bytes = await readNamedFile(path, 'fixture file');
  if (bytes.length >= LARGE_FILE_BYTES) {
    print(
      `Loading ${path} takes a while: it has ${showSize(bytes.length)}, and every part of it is checked and sorted.`,
    );
  }
  try {
    // Some editors on Windows write a byte order mark at the start of a file.
    return await replaceMailFiles(parseJsonc(bytes.toString('utf8').replace(/^\uFEFF/, '')), dirname(path));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CannotRunError(`The fixture file ${path} cannot be read as JSON: ${error.message}.`);
  }
}

/** The limit for nesting. No fixture is nested so deeply, but the recursive parser could overflow the stack. */
const MAX_DEPTH = 64;

/** How many parts of a path an error shows. The path of the deepest field of a fixture has this number of parts. */
const SHOWN_DEPTH = 12;

/**
 * Parses JSON that may have comments and trailing commas.
 *
 * @throws {SyntaxError} on invalid syntax, a duplicate key, or too many levels of nesting; the message has the line
 *   and column.
 */
export function parseJsonc(text: string): unknown {
  checkDepth(text);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (!error) return root && toValue(root, text);
  // An error code such as `CommaExpected` becomes words: `comma expected`.
  const words = printParseErrorCode(error.error).replace(/\B[A-Z]/g, ' $&');
  throw new SyntaxError(`${words.toLowerCase()} at ${positionOf(text, error.offset)}`);
}

/**
 * Functions that change the current path when a token is read, by the first character of the token. The last part of
 * the path is a name in an object and an index in an array.
 */
const PATH_CHANGES: Readonly<Record<string, (path: PropertyKey[], value: string) => void>> = {
  '{': (path) => path.push(''),
  '[': (path) => path.push(0),
  '}': (path) => path.pop(),
  ']': (path) => path.pop(),
  ',': (path) => typeof path.at(-1) === 'number' && path.push(Number(path.pop()) + 1),
  // A text that is a value is also put into the path as a name. This does no harm, because the next name replaces it.
  '"': (path, value) => typeof path.at(-1) === 'string' && path.splice(-1, 1, value),
};

function checkDepth(text: string): void {
  const scanner = createScanner(text, true);
  const path: PropertyKey[] = [];
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const offset = scanner.getTokenOffset();
    PATH_CHANGES[text.charAt(offset)]?.(path, scanner.getTokenValue());
    if (path.length <= MAX_DEPTH) continue;
    const shown = showJsonPath(path.slice(0, SHOWN_DEPTH));
    throw new SyntaxError(`${shown} is nested more than ${MAX_DEPTH} levels deep, at ${positionOf(text, offset)}`);
  }
}

function positionOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** Converts a node to a value. The library's own conversion would use a `__proto__` key as the prototype. */
function toValue(node: Node, text: string): unknown {
  const children = node.children ?? [];
  if (node.type === 'array') return children.map((child) => toValue(child, text));
  if (node.type !== 'object') return node.value;
  const names = new Set<string>();
  const entries = children.flatMap(({ children: [name, value] = [] }) => {
    if (!name || !value) return [];
    if (names.has(name.value)) {
      throw new SyntaxError(`duplicate key ${JSON.stringify(name.value)} at ${positionOf(text, name.offset)}`);
    }
    names.add(name.value);
    return [[name.value, toValue(value, text)] as const];
  });
  return Object.fromEntries(entries);
}
