import { relative } from 'node:path';
import ts from 'typescript';
import { ROOT } from './root.ts';

/** An error message as it stands in the source; `…` stands for each inserted value. */
export interface Refusal {
  readonly file: string;
  readonly message: string;
}

/** Collects every error message in the source: each text that is passed to an error constructor. */
export function collectRefusals(program: ts.Program): Refusal[] {
  const checker = program.getTypeChecker();
  return collect(program, (node) => {
    if (!(ts.isCallExpression(node) || ts.isNewExpression(node))) return [];
    const texts = (node.arguments ?? [])
      .map((argument) => readText(checker, argument))
      .filter((text) => text?.includes(' '));
    if (texts.length === 0) return [];
    // What the function is declared to return: to find its type for these arguments takes the compiler long.
    const type = checker.getTypeAtLocation(node.expression);
    const signatures = ts.isNewExpression(node) ? type.getConstructSignatures() : type.getCallSignatures();
    return signatures.some((signature) => isError(signature.getReturnType())) ? texts : [];
  });
}

/** Collects every text that describes a problem of a field, such as `must be a UUID`. */
export function collectFieldProblems(program: ts.Program): Refusal[] {
  const checker = program.getTypeChecker();
  return collect(program, (node) => {
    const text = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) ? readText(checker, node) : undefined;
    return [/^(?:must (?:be|have|not|list|name)|is required|has unknown)/.test(text ?? '') ? text : undefined];
  });
}

function collect(program: ts.Program, textsOf: (node: ts.Node) => readonly (string | undefined)[]): Refusal[] {
  const found: Refusal[] = [];
  for (const source of program.getSourceFiles()) {
    const file = relative(ROOT, source.fileName);
    const visit = (node: ts.Node): void => {
      for (const message of textsOf(node)) if (message) found.push({ file, message });
      ts.forEachChild(node, visit);
    };
    if (file.startsWith('src/')) visit(source);
  }
  return found;
}

function isError(type: ts.Type): boolean {
  return ['message', 'stack', 'name'].every((name) => type.getProperty(name) !== undefined);
}

/** The text of a literal, of a constant, or of a template with `…` for each inserted value. */
function readText(checker: ts.TypeChecker, node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  }
  if (ts.isConditionalExpression(node)) return readText(checker, node.whenTrue);
  if (!ts.isIdentifier(node)) return undefined;
  const declaration = checker.getSymbolAtLocation(node)?.valueDeclaration;
  const isConstant = declaration && ts.isVariableDeclaration(declaration) && declaration.initializer;
  return isConstant ? readText(checker, isConstant) : undefined;
}
