import ts from 'typescript';

/** A file of declarations with its checker. */
interface Context {
  readonly source: ts.SourceFile;
  readonly checker: ts.TypeChecker;
  /** The statements that depend on zod, which are replaced or removed. */
  readonly dependent: ReadonlySet<ts.Statement>;
}

/**
 * Writes out each type of a declaration file that is derived from a zod schema, with the comments of its members, and
 * removes the schemas, so that users of the types need no zod. `path` is where the file would be, for its imports.
 */
export function expandSchemaTypes(code: string, path: string): string {
  const { source, checker } = parse(code, path);
  const context = { source, checker, dependent: findDependent(source, checker) };
  const written = source.statements.map((statement) =>
    context.dependent.has(statement) ? replace(context, statement) : statement.getFullText(source),
  );
  return removeUnused(written, source.statements).trimStart();
}

/** Removes the written types that only a removed schema used. */
function removeUnused(written: readonly string[], statements: readonly ts.Statement[]): string {
  const isUnused = (statement: ts.Statement | undefined, index: number) => {
    if (!statement || !isWrittenOut(statement) || ts.getCombinedModifierFlags(statement) !== 0) return false;
    const name = new RegExp(`\\b${statement.name.text}\\b`);
    return !written.some((other, place) => place !== index && name.test(other));
  };
  const kept = written.map((text, index) => (isUnused(statements[index], index) ? '' : text));
  return kept.join('') === written.join('') ? kept.join('') : removeUnused(kept, statements);
}

function parse(code: string, path: string) {
  const options: ts.CompilerOptions = {
    ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true },
    ...{ exactOptionalPropertyTypes: true, skipLibCheck: true, types: [] },
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.disposable.d.ts'],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (file) => file === path || fileExists(file);
  host.getSourceFile = (file, ...rest) =>
    file === path ? ts.createSourceFile(path, code, ts.ScriptTarget.ES2022, true) : getSourceFile(file, ...rest);
  const program = ts.createProgram([path], options, host);
  const source = program.getSourceFile(path);
  if (!source) throw new Error(`${path} cannot be parsed.`);
  return { source, checker: program.getTypeChecker() };
}

/** Finds the import of zod and each statement that uses it, itself or through another one. */
function findDependent(source: ts.SourceFile, checker: ts.TypeChecker): Set<ts.Statement> {
  const found = new Set(
    source.statements.filter((statement) => /^import .* from ["']zod["']/.test(statement.getText())),
  );
  // A type without parameters is written out, so what uses it does not depend on zod.
  const isRemoved = (statement: ts.Statement) => found.has(statement) && !isWrittenOut(statement);
  const uses = (node: ts.Node): boolean =>
    (ts.isIdentifier(node) && declarationsOf(node, checker).some(isRemoved)) ||
    (ts.forEachChild(node, (child) => uses(child) || undefined) ?? false);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const statement of source.statements)
      if (!ts.isExportDeclaration(statement) && uses(statement)) found.add(statement);
  }
  return found;
}

/** Returns the statements that declare what an identifier names. */
function declarationsOf(identifier: ts.Identifier, checker: ts.TypeChecker): ts.Statement[] {
  const declarations = checker.getSymbolAtLocation(identifier)?.declarations ?? [];
  return declarations.flatMap((declaration) => ts.findAncestor(declaration, isTopLevel) ?? []);
}

function isTopLevel(node: ts.Node): node is ts.Statement {
  return node.parent !== undefined && ts.isSourceFile(node.parent);
}

function isWrittenOut(statement: ts.Statement): statement is ts.TypeAliasDeclaration | ts.InterfaceDeclaration {
  return (ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement)) && !statement.typeParameters;
}

function replace(context: Context, statement: ts.Statement): string {
  if (!isWrittenOut(statement)) return '';
  const { checker, source } = context;
  const type = checker.getTypeAtLocation(statement.name);
  if (checker.getPropertyOfType(type, '_zod')) return '';
  const before = source.text.slice(statement.getFullStart(), statement.getStart(source));
  const comment = /\/\*\*(?:(?!\*\/).)*\*\/\s*$/s.exec(before)?.[0] ?? '';
  return `\n${comment}type ${statement.name.text} = ${write(context, type, statement, true)};`;
}

const FLAGS =
  ts.TypeFormatFlags.NoTruncation |
  ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope |
  ts.TypeFormatFlags.InTypeAlias;

/** Writes a type: objects with their members, unless they have a name. */
function write(context: Context, type: ts.Type, at: ts.Node, isRoot = false): string {
  const { checker } = context;
  if (!isRoot && hasName(context, type)) return checker.typeToString(type, at, FLAGS & ~ts.TypeFormatFlags.InTypeAlias);
  if (checker.isArrayType(type)) {
    const [element] = checker.getTypeArguments(type as ts.TypeReference);
    const prefix = type.symbol.name === 'ReadonlyArray' ? 'readonly ' : '';
    return `${prefix}(${element && write(context, element, at)})[]`;
  }
  if (type.isUnion() && !(type.flags & ts.TypeFlags.EnumLike)) return writeUnion(context, type, at);
  return isRoot || isPlainObject(type) ? writeObject(context, type, at) : checker.typeToString(type, at, FLAGS);
}

/** Whether a type has a name that the written file still contains. */
function hasName({ source, dependent }: Context, { aliasSymbol }: ts.Type): boolean {
  const [declaration] = aliasSymbol?.declarations ?? [];
  if (!declaration || declaration.getSourceFile() !== source) return false;
  return !dependent.has(declaration as never) || isWrittenOut(declaration as never);
}

function writeUnion(context: Context, type: ts.UnionType, at: ts.Node): string {
  const objects = type.types.filter((part) => isPlainObject(part) || context.checker.isArrayType(part));
  if (objects.length === 0) return context.checker.typeToString(type, at, FLAGS);
  // TypeScript splits `boolean` into two types.
  const parts = type.types.map((part) => write(context, part, at));
  return [...new Set(parts.map((part) => (/^(true|false)$/.test(part) ? 'boolean' : part)))].join(' | ');
}

function isPlainObject(type: ts.Type): boolean {
  const isObject = Boolean(type.flags & ts.TypeFlags.Object) && type.getCallSignatures().length === 0;
  const name = type.symbol?.name ?? '';
  return isObject && (name === '__type' || name === '__object' || name === '');
}

function writeObject(context: Context, type: ts.Type, at: ts.Node): string {
  const { checker } = context;
  const indexes = checker.getIndexInfosOfType(type).map(({ keyType, type: value, isReadonly }) => {
    return `${isReadonly ? 'readonly ' : ''}[name: ${checker.typeToString(keyType)}]: ${write(context, value, at)};`;
  });
  const members = checker.getPropertiesOfType(type).map((member) => {
    const text = ts.displayPartsToString(member.getDocumentationComment(checker));
    const comment = text === '' ? '' : `/** ${text.replace(/\s*\n\s*/g, ' ')} */\n`;
    const isOptional = Boolean(member.flags & ts.SymbolFlags.Optional);
    const value = write(context, checker.getTypeOfSymbolAtLocation(member, at), at);
    const name = /^[\w$]+$/.test(member.name) ? member.name : JSON.stringify(member.name);
    return `${comment}readonly ${name}${isOptional ? '?' : ''}: ${value};`;
  });
  return `{\n${[...indexes, ...members].join('\n').replace(/^/gm, '  ')}\n}`;
}
