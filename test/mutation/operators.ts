import ts from 'typescript';
import { Choice } from '../support/choice.ts';

/** One change of a source text that a test should notice. */
export interface Mutant {
  /** The file, as it was given. */
  readonly path: string;
  /** What was done, such as `condition is always true`. */
  readonly operator: string;
  /** The line of the change, from 1. */
  readonly line: number;
  /** Where the text that is replaced begins and ends. */
  readonly start: number;
  readonly end: number;
  readonly original: string;
  readonly replacement: string;
  /** Whether the text is an expression or a statement: `withSwitches` puts one into an expression, the other into a statement. */
  readonly is: 'expression' | 'statement';
}

/** A file of the source with its text. */
export interface SourceText {
  readonly path: string;
  readonly text: string;
}

/** What an operator makes of a node: the name of the operator, and the text in place of the node. */
type Change = readonly [operator: string, replacement: string];

/** Returns every mutant of a file, in the order of the text. */
export function listMutants({ path, text }: SourceText): Mutant[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const mutants: Mutant[] = [];
  const visit = (node: ts.Node): void => {
    if (!runs(node)) return;
    const is = ts.isStatement(node) ? 'statement' : 'expression';
    const changes = ts.isStatement(node) ? changesOfStatement(node) : isValue(node) ? changesOfExpression(node) : [];
    const start = node.getStart(file);
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    for (const [operator, replacement] of changes) {
      mutants.push({ path, operator, line, start, end: node.end, original: node.getText(file), replacement, is });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return mutants;
}

/**
 * Draws mutants of these files by a seed: first an operator, then one of its mutants, so that the rare operators are
 * drawn as often as those of which every line has one. No two of them change the same text.
 */
export function drawMutants(files: readonly SourceText[], { seed, count }: { seed: number; count: number }): Mutant[] {
  const choice = new Choice(seed);
  const byOperator = new Map<string, Mutant[]>();
  for (const mutant of files.flatMap(listMutants)) {
    const others = byOperator.get(mutant.operator);
    if (others) others.push(mutant);
    else byOperator.set(mutant.operator, [mutant]);
  }
  const drawn: Mutant[] = [];
  while (drawn.length < count && byOperator.size > 0) {
    const operator = choice.of([...byOperator.keys()].sort());
    const left = byOperator.get(operator) ?? [];
    const [mutant] = left.splice(choice.number(left.length), 1);
    if (left.length === 0) byOperator.delete(operator);
    if (mutant && !drawn.some((other) => overlap(mutant, other))) drawn.push(mutant);
  }
  return drawn;
}

/** Returns the text with one mutant in it. */
export function applyMutant(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/**
 * Returns the text with several mutants in it, none of which changes the text of another. Each is there beside what it
 * replaces, and runs only where `isOn`, an expression in JavaScript of the number of the mutant, is true.
 */
export function withSwitches(
  text: string,
  mutants: readonly { readonly mutant: Mutant; readonly number: number }[],
  isOn: (number: number) => string,
): string {
  const fromTheEnd = [...mutants].sort((a, b) => b.mutant.start - a.mutant.start);
  return fromTheEnd.reduce((changed, { mutant, number }) => {
    const { is, original } = mutant;
    const replacement =
      is === 'statement'
        ? `if (${isOn(number)}) { ${mutant.replacement} } else { ${original} }`
        : `(${isOn(number)} ? (${mutant.replacement}) : (${original}))`;
    return applyMutant(changed, { ...mutant, replacement });
  }, text);
}

function overlap(a: Mutant, b: Mutant): boolean {
  return a.path === b.path && a.start < b.end && b.start < a.end;
}

/** Types, imports and the names of modules do not run. */
function runs(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return false;
  return !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node) && !ts.isEnumDeclaration(node);
}

/** Whether the node is an expression whose value is used, so that another expression may stand in its place. */
function isValue(node: ts.Node): node is ts.Expression {
  const { parent } = node;
  if (!ts.isExpression(node) || !parent) return false;
  // A text that is the name of a property, a condition of a type, a directive, or a part of a template or of a tag.
  if (ts.isStringLiteralLike(node) && (isName(node) || ts.isExpressionStatement(parent))) return false;
  if (ts.isNumericLiteral(node) && isName(node)) return false;
  if (ts.isTaggedTemplateExpression(parent) || ts.isHeritageClause(parent)) return false;
  if (ts.isExpressionWithTypeArguments(parent) || ts.isDecorator(parent)) return false;
  // What is assigned to, deleted or counted must stay a place; what is called, or is followed by `.`, keeps its `this`.
  if (ts.isDeleteExpression(parent) || ts.isPostfixUnaryExpression(parent)) return false;
  if (ts.isPrefixUnaryExpression(parent) && parent.operand === node && isCounting(parent.operator)) return false;
  if (ts.isBinaryExpression(parent) && parent.left === node && isAssignment(parent.operatorToken.kind)) return false;
  if (isPartOfPattern(node)) return false;
  const isFollowed =
    (ts.isCallExpression(parent) || ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent)) &&
    parent.expression === node;
  // In `a?.b.c` nothing after `a` runs if it is missing, which a pair of parentheses in the middle would change.
  return !isFollowed || !(ts.isCallExpression(parent) || ts.isOptionalChain(parent) || ts.isOptionalChain(node));
}

function isName(node: ts.Node): boolean {
  const { parent } = node;
  return (
    ((ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent) || ts.isMethodDeclaration(parent)) &&
      parent.name === node) ||
    (ts.isBindingElement(parent) && parent.propertyName === node) ||
    ts.isJsxAttribute(parent) ||
    ts.isLiteralTypeNode(parent) ||
    ts.isExternalModuleReference(parent) ||
    (ts.isCallExpression(parent) && parent.expression.kind === ts.SyntaxKind.ImportKeyword)
  );
}

/** Whether a list or an object is the left side of an assignment, such as `[a, b] = c`. */
function isPartOfPattern(node: ts.Node): boolean {
  for (let each: ts.Node = node; ts.isExpression(each) || ts.isObjectLiteralElement(each); each = each.parent) {
    const { parent } = each;
    if (!parent) return false;
    if (ts.isBinaryExpression(parent) && isAssignment(parent.operatorToken.kind)) return parent.left === each;
    if (ts.isForOfStatement(parent) || ts.isForInStatement(parent)) return parent.initializer === each;
    if (
      !ts.isArrayLiteralExpression(parent) &&
      !ts.isObjectLiteralExpression(parent) &&
      !ts.isPropertyAssignment(parent)
    )
      return false;
  }
  return false;
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

function isCounting(kind: ts.SyntaxKind): boolean {
  return kind === ts.SyntaxKind.PlusPlusToken || kind === ts.SyntaxKind.MinusMinusToken;
}

function changesOfStatement(node: ts.Statement): Change[] {
  if (ts.isExpressionStatement(node)) {
    // Without it, a constructor does not run.
    const isSuper =
      ts.isCallExpression(node.expression) && node.expression.expression.kind === ts.SyntaxKind.SuperKeyword;
    if (isSuper || ts.isStringLiteral(node.expression)) return [];
    return [[ts.isCallExpression(withoutAwait(node.expression)) ? 'call removed' : 'statement removed', ';']];
  }
  if (ts.isThrowStatement(node)) return [['error not thrown', ';']];
  if (ts.isContinueStatement(node)) return [['continue removed', ';']];
  // Without a break, the next case runs or a loop goes on, perhaps for ever, which a limit of time ends.
  if (ts.isBreakStatement(node)) return [['break removed', ';']];
  if (ts.isReturnStatement(node)) {
    if (!node.expression) return [['return removed', ';']];
    return isEarly(node) ? [['early return removed', ';']] : [];
  }
  return [];
}

/** Whether something follows in the same function: the last statement of a function returns its value anyway. */
function isEarly({ parent }: ts.ReturnStatement): boolean {
  if (ts.isIfStatement(parent) || ts.isCaseOrDefaultClause(parent)) return true;
  return ts.isBlock(parent) && ts.isIfStatement(parent.parent);
}

function withoutAwait(node: ts.Expression): ts.Expression {
  if (ts.isAwaitExpression(node) || ts.isVoidExpression(node)) return withoutAwait(node.expression);
  return node;
}

function changesOfExpression(node: ts.Expression): Change[] {
  return [...changesOfPlace(node), ...changesOfKind(node)];
}

/** What is changed because of where the expression stands. */
function changesOfPlace(node: ts.Expression): Change[] {
  const { parent } = node;
  const text = node.getText();
  const isTest =
    ((ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent)) &&
      parent.expression === node) ||
    (ts.isConditionalExpression(parent) && parent.condition === node) ||
    (ts.isForStatement(parent) && parent.condition === node);
  if (isTest) {
    return [
      ['condition negated', `!(${text})`],
      ['condition is always true', 'true'],
      ['condition is never true', 'false'],
    ];
  }
  const isResult =
    (ts.isReturnStatement(parent) && parent.expression === node) ||
    (ts.isArrowFunction(parent) && parent.body === node);
  if (!isResult || node.kind === ts.SyntaxKind.NullKeyword || text === 'undefined' || text === '[]') return [];
  const changes: Change[] = [['result is undefined', 'undefined']];
  if (isBoolean(node)) changes.push(['result negated', `!(${text})`]);
  return changes;
}

/** Whether the value is a boolean, as far as one sees without types. */
function isBoolean(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node)) return isBoolean(node.expression);
  if (ts.isPrefixUnaryExpression(node)) return node.operator === ts.SyntaxKind.ExclamationToken;
  if (ts.isBinaryExpression(node)) return Object.hasOwn(COMPARISONS, node.operatorToken.getText());
  const isCall = ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression);
  return (
    isCall && ['has', 'includes', 'some', 'every', 'test', 'startsWith', 'endsWith'].includes(node.expression.name.text)
  );
}

/** Operators of two values, each with those that take its place. */
const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
};
const LOGIC: Readonly<Record<string, readonly string[]>> = { '&&': ['||'], '||': ['&&'] };
const ARITHMETIC: Readonly<Record<string, readonly string[]>> = {
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
};
const ASSIGNMENTS: Readonly<Record<string, readonly string[]>> = {
  '+=': ['-='],
  '-=': ['+='],
  '&&=': ['='],
  '||=': ['&&='],
  '??=': ['='],
};

/** Methods, each with the one that takes its place; with none, the call is left out and its object stays. */
const METHODS: ReadonlyMap<string, string | undefined> = new Map(
  Object.entries({
    filter: undefined,
    slice: undefined,
    sort: undefined,
    toSorted: undefined,
    reverse: undefined,
    trim: undefined,
    trimEnd: undefined,
    toLowerCase: undefined,
    some: 'every',
    every: 'some',
    find: 'findLast',
    findLast: 'find',
    indexOf: 'lastIndexOf',
    lastIndexOf: 'indexOf',
    startsWith: 'endsWith',
    endsWith: 'startsWith',
    push: 'unshift',
    unshift: 'push',
    shift: 'pop',
    pop: 'shift',
    min: 'max',
    max: 'min',
    floor: 'ceil',
    ceil: 'floor',
  }),
);

/** What is changed because of what the expression is. */
function changesOfKind(node: ts.Expression): Change[] {
  if (ts.isBinaryExpression(node)) return changesOfBinary(node);
  if (ts.isCallExpression(node)) return [...changesOfCall(node), ...withoutQuestionMarks(node)];
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) return withoutQuestionMarks(node);
  if (ts.isObjectLiteralExpression(node)) return withoutProperties(node);
  if (ts.isArrayLiteralExpression(node)) return node.elements.length > 0 ? [['list is empty', '[]']] : [];
  if (ts.isConditionalExpression(node)) return [];
  if (ts.isPrefixUnaryExpression(node)) {
    const operand = node.operand.getText();
    if (node.operator === ts.SyntaxKind.ExclamationToken) return [['negation removed', operand]];
    if (node.operator === ts.SyntaxKind.MinusToken) return [['sign removed', operand]];
    return isCounting(node.operator) ? [['counts the other way', swapCounting(node.getText())]] : [];
  }
  if (ts.isPostfixUnaryExpression(node)) return [['counts the other way', swapCounting(node.getText())]];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [['boolean swapped', 'false']];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [['boolean swapped', 'true']];
  if (ts.isNumericLiteral(node)) return [['number plus one', `${node.getText()} + 1`]];
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
    return [node.getText().length > 2 ? ['text is empty', "''"] : ['text is not empty', "'mutant'"]];
  }
  if (ts.isRegularExpressionLiteral(node)) return changesOfExpressionText(node.text);
  if (ts.isAwaitExpression(node)) return [['not awaited', node.expression.getText()]];
  return [];
}

function changesOfBinary({ left, operatorToken, right }: ts.BinaryExpression): Change[] {
  const operator = operatorToken.getText();
  const [before, after] = [left.getText(), right.getText()];
  const swapped = (name: string, table: Readonly<Record<string, readonly string[]>>): Change[] =>
    (table[operator] ?? []).map((other) => [name, `${before} ${other} ${after}`]);
  if (operator === '??') {
    return [
      ['default left out', before],
      ['default always taken', after],
    ];
  }
  // `a + b` of texts cannot be told from that of numbers without types, unless one of them is written as a text.
  const isText = [left, right].some((each) => ts.isStringLiteralLike(each) || ts.isTemplateExpression(each));
  return [
    ...swapped(/^[<>]/.test(operator) ? 'boundary moved' : 'comparison negated', COMPARISONS),
    // Parentheses, because `??` may not stand beside them without.
    ...(LOGIC[operator] ?? []).map((other): Change => ['and or swapped', `(${before}) ${other} (${after})`]),
    ...(isText ? [] : swapped('arithmetic', ARITHMETIC)),
    ...swapped('assignment', ASSIGNMENTS),
  ];
}

function changesOfCall(node: ts.CallExpression): Change[] {
  const { expression } = node;
  if (!ts.isPropertyAccessExpression(expression) || !METHODS.has(expression.name.text)) return [];
  const object = expression.expression.getText();
  const method = expression.name.text;
  const other = METHODS.get(method);
  // The rest of `a?.b.filter(c)` has the same question mark.
  if (other === undefined) return [[`${method} left out`, object]];
  const args = node.getText().slice(expression.getText().length);
  const dot = expression.questionDotToken ? '?.' : '.';
  return [[`${method} becomes ${other}`, `${object}${dot}${other}${args}`]];
}

/** The whole of `a?.b.c` without one of its question marks; a shorter part of it could not stand in parentheses. */
function withoutQuestionMarks(
  node: ts.CallExpression | ts.PropertyAccessExpression | ts.ElementAccessExpression,
): Change[] {
  const changes: Change[] = [];
  const start = node.getStart();
  const text = node.getText();
  for (let each: ts.Node = node; ts.isOptionalChain(each); each = each.expression) {
    const token = ts.isNonNullChain(each) ? undefined : each.questionDotToken;
    if (!token) continue;
    const dot = ts.isPropertyAccessChain(each) ? '.' : '';
    const before = text.slice(0, token.getStart() - start);
    changes.push(['question mark removed', before + dot + text.slice(token.end - start)]);
  }
  return changes;
}

/** The object without one of its properties, for each. */
function withoutProperties(node: ts.ObjectLiteralExpression): Change[] {
  return node.properties.map((left) => {
    const others = node.properties.filter((property) => property !== left).map((property) => property.getText());
    return ['property left out', `{ ${others.join(', ')} }`];
  });
}

function changesOfExpressionText(text: string): Change[] {
  const [, pattern = '', flags = ''] = /^\/(.*)\/(\w*)$/s.exec(text) ?? [];
  const changes: Change[] = [];
  if (pattern.startsWith('^')) changes.push(['expression without ^', `/${pattern.slice(1) || '(?:)'}/${flags}`]);
  if (/(?<!\\)\$$/.test(pattern)) changes.push(['expression without $', `/${pattern.slice(0, -1) || '(?:)'}/${flags}`]);
  if (flags.includes('i')) changes.push(['expression heeds case', `/${pattern}/${flags.replace('i', '')}`]);
  return changes;
}

function swapCounting(text: string): string {
  return text.includes('++') ? text.replace('++', '--') : text.replace('--', '++');
}
