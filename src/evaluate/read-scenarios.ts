import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { showJsonPath } from '../basics/json-path.ts';
import { isPlainObject } from '../basics/objects.ts';
import { NAME } from '../basics/version.ts';
import { MAX_MAIL_BYTES } from '../contract/mail-limits.ts';
import { fileProblem, readRegularFile } from '../server/regular-file.ts';
import { listItems, ScenarioError, type ScenarioSource } from './parse-scenarios.ts';

/** The endings of files of scenarios. In a folder, other files are not read. */
const ENDINGS = /\.(?:ya?ml|jsonc?)$/i;

/** The largest file of scenarios, in bytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** How many brackets may be open at once. No scenario is nested so deeply. */
const MAX_BRACKETS = 64;

/** How far to the right a line of YAML may begin. Each level of nesting needs at least one column. */
const MAX_INDENT = 200;

/**
 * Reads files of scenarios: YAML, or JSON with or without comments. Of a folder, it reads every such file in it and below
 * it, in the order of their names.
 *
 * @param complete - Changes what was read, before the mails are read that it names.
 * @throws {ScenarioError} if a file cannot be read or parsed, with its line, and if a folder has no such file.
 */
export async function readScenarios(
  paths: readonly string[],
  complete: (sources: readonly ScenarioSource[]) => readonly ScenarioSource[] = (sources) => sources,
): Promise<ScenarioSource[]> {
  const files = (await Promise.all(paths.map(listFiles))).flat();
  const sources = complete(await Promise.all([...new Set(files)].map(readScenarioFile)));
  return Promise.all(sources.map(readMailFiles));
}

async function listFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch((error: unknown) => {
    const missing = `there is no such file or folder; npx ${NAME} init --scenarios writes scenarios to begin with`;
    refuseFile(path, `cannot be read: ${fileProblem(error, missing)}`);
  });
  if (!found.isDirectory()) return [path];
  const names = (await readdir(path, { recursive: true })).filter((name) => ENDINGS.test(name)).sort();
  if (names.length > 0) return names.map((name) => join(path, name));
  refuseFile(path, 'has no file that ends with .yaml, .yml, .json or .jsonc');
}

async function readScenarioFile(file: string): Promise<ScenarioSource> {
  const bytes = await readRegularFile(file).catch((error: unknown) => {
    refuseFile(file, `cannot be read: ${fileProblem(error, 'there is no such file')}`);
  });
  if (bytes.length > MAX_BYTES) refuseFile(file, `is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
  return parseScenarioText(bytes.toString('utf8').replace(/^\uFEFF/, ''), file);
}

/**
 * Parses the text of a file: JSON with comments if the name ends with `.json` or `.jsonc`, otherwise YAML.
 *
 * @throws {ScenarioError} if the text cannot be parsed, is nested too deeply, or has no scenario.
 */
export async function parseScenarioText(text: string, file: string): Promise<ScenarioSource> {
  // The libraries are loaded only here, because few processes read scenarios.
  const { CST, Lexer } = await import('yaml');
  const isJson = /\.jsonc?$/i.test(file);
  // JSON without comments is YAML, except that YAML allows no tabs in an indentation. Each comment becomes spaces, so
  // that the lines stay.
  const written = isJson ? (await import('jsonc-parser')).stripComments(text, ' ').replaceAll('\t', ' ') : text;
  checkDepth(new Lexer().lex(written), CST.tokenType, file);
  const { readYaml, YamlProblem } = await import('./yaml-document.ts');
  try {
    const { value, lineOf } = readYaml(written);
    if (value === null) refuseFile(file, 'has no scenario');
    return { value, file, lineOf };
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    const { path, line, message, advice } = error;
    if (path) throw new ScenarioError([{ file, line, path: showJsonPath(path), message: message + advice }]);
    return refuseFile(file, `cannot be read as ${isJson ? 'JSON' : 'YAML'}: ${message}${isJson ? '' : advice}`, line);
  }
}

/**
 * Refuses a text that is nested so deeply that the parser could overflow the stack. In YAML, brackets nest, and so do
 * columns: a line that is indented more, and each dash of a line such as `- - - -`.
 */
function checkDepth(tokens: Iterable<string>, typeOf: (token: string) => string | null, file: string): void {
  let [line, column, brackets] = [1, 0, 0];
  /** Whether only spaces, dashes and question marks came in this line so far. */
  let isStart = true;
  for (const token of tokens) {
    const type = typeOf(token);
    // It stands for the start of a document, and is no character of the text.
    if (type === 'doc-mode') continue;
    if (type === 'flow-seq-start' || type === 'flow-map-start') brackets += 1;
    if (type === 'flow-seq-end' || type === 'flow-map-end') brackets = Math.max(0, brackets - 1);
    if (brackets > MAX_BRACKETS) refuseFile(file, `has more than ${MAX_BRACKETS} open brackets`, line);
    const isMark = type === 'seq-item-ind' || type === 'explicit-key-ind';
    const isContent = type !== 'space' && type !== 'newline' && type !== 'comment';
    if (isStart && isContent && brackets === 0 && column > MAX_INDENT) {
      refuseFile(file, `has a line that begins after column ${MAX_INDENT}`, line);
    }
    if (isContent && !isMark) isStart = false;
    const lastBreak = token.lastIndexOf('\n');
    if (lastBreak >= 0) {
      line += token.split('\n').length - 1;
      column = token.length - lastBreak - 1;
      isStart = true;
    } else if (type !== 'scalar') column += token.length;
  }
}

/** Replaces the path of an `.eml` file in each step `eml` by the bytes of the file, in base64. */
async function readMailFiles(source: ScenarioSource): Promise<ScenarioSource> {
  const { value, file, lineOf } = source;
  // Scenarios in code are in no folder, so that they cannot name a file.
  if (file === undefined) return source;
  const place = { file, lineOf };
  const items = await Promise.all(
    listItems(source).map(async (each) => {
      const { value: item, path } = each;
      if (!isPlainObject(item)) return each;
      const steps = await readStepFiles(item.steps, place, [...path, 'steps']);
      const twin = isPlainObject(item.twin)
        ? { ...item.twin, steps: await readStepFiles(item.twin.steps, place, [...path, 'twin', 'steps']) }
        : item.twin;
      const read = { ...item };
      if (steps !== undefined) read.steps = steps;
      if (twin !== undefined) read.twin = twin;
      return { ...each, value: read };
    }),
  );
  return { ...source, items, value: Array.isArray(value) ? items.map((each) => each.value) : items[0]?.value };
}

async function readStepFiles(
  steps: unknown,
  { file, lineOf }: { readonly file: string } & Pick<ScenarioSource, 'lineOf'>,
  path: readonly PropertyKey[],
): Promise<unknown> {
  if (!Array.isArray(steps)) return steps;
  return Promise.all(
    steps.map(async (step: unknown, index) => {
      const eml = isPlainObject(step) ? step.eml : undefined;
      if (typeof eml !== 'string' || /[\r\n]/.test(eml)) return step;
      const refuse = (reason: string): never => {
        const emlPath = [...path, index, 'eml'];
        const message = `names a mail that cannot be read: ${reason}`;
        throw new ScenarioError([{ file, line: lineOf?.(emlPath), path: showJsonPath(emlPath), message }]);
      };
      const bytes = await readRegularFile(resolve(dirname(file), eml)).catch((error: unknown) =>
        refuse(fileProblem(error, 'there is no such file')),
      );
      if (bytes.length > MAX_MAIL_BYTES) refuse('it is larger than 10 MiB');
      return { ...(step as object), eml: bytes.toString('base64') };
    }),
  );
}

/** @throws {ScenarioError} with what is wrong with a file. */
function refuseFile(file: string, message: string, line?: number): never {
  throw new ScenarioError([{ file, line, path: '$', message }]);
}
