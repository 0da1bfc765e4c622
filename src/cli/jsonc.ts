import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

/**
 * Reads JSON that may have comments and trailing commas.
 *
 * @throws {SyntaxError} on anything else, and on a name that an object has twice; the message says the place.
 */
export function parseJsonc(text: string): unknown {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) throw new SyntaxError(`${describeError(error)} at ${placeOf(text, error.offset)}`);
  return root && toValue(root, text);
}

/** Says `CommaExpected` in words. */
function describeError({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replace(/\B[A-Z]/g, ' $&')
    .toLowerCase();
}

function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** Not the library's own values: to those it gives the prototype that a file holds under `__proto__`. */
function toValue(node: Node, text: string): unknown {
  const children = node.children ?? [];
  if (node.type === 'array') return children.map((child) => toValue(child, text));
  if (node.type !== 'object') return node.value;
  const names = new Set<string>();
  const entries = children.flatMap(({ children: [name, value] = [] }) => {
    if (!name || !value) return [];
    if (names.has(name.value)) {
      throw new SyntaxError(`${JSON.stringify(name.value)} stands there twice, again at ${placeOf(text, name.offset)}`);
    }
    names.add(name.value);
    return [[name.value, toValue(value, text)] as const];
  });
  return Object.fromEntries(entries);
}
