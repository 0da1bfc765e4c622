import ts from 'typescript';

/** A regular expression, and the file that has it. */
export interface Expression {
  /** The path of the file. */
  readonly place: string;
  /** Its text, with slashes and flags. */
  readonly text: string;
}

/** Finds the regular expressions that a file has as literals, and counts those that it builds. */
export function findExpressions(place: string, code: string): { literals: Expression[]; built: number } {
  const kind = place.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(place, code, ts.ScriptTarget.ES2022, true, kind);
  const literals: Expression[] = [];
  let built = 0;
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) literals.push({ place, text: node.text });
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp') built += 1;
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { literals, built };
}

/** Lists every expression that is built while a function runs, and while the modules load that it imports. */
export async function recordExpressions(place: string, run: () => unknown): Promise<Expression[]> {
  const Original = globalThis.RegExp;
  const built: Expression[] = [];
  const record = (expression: RegExp) => {
    built.push({ place, text: String(expression) });
    return expression;
  };
  globalThis.RegExp = new Proxy(Original, {
    construct: (_, [pattern, flags]) => record(new Original(pattern, flags)),
    apply: (_, __, [pattern, flags]) => record(new Original(pattern, flags)),
  });
  try {
    await run();
  } finally {
    globalThis.RegExp = Original;
  }
  return built;
}
