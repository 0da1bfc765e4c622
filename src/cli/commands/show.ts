import { NAME } from '../../basics/version.ts';
import { TRACE_VERSION, type TraceHeader, type TraceLine, traceLine } from '../../control/journal/trace.ts';
import { readRegularFile } from '../../server/regular-file.ts';
import { replaceFile } from '../../server/replace-file.ts';
import { CannotRunError, type RunCommand, readText, type Terminal } from '../command.ts';
import { explainWriteError } from '../files.ts';
import { toPrintable } from '../layout.ts';

/**
 * Prints what happened to each mail of a trace, and the requests that were refused. With `--open` or `--html`, makes a
 * page of the trace instead.
 */
export const show: RunCommand = async (terminal, flags, file = '') => {
  const bytes = await readRegularFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new CannotRunError(`The trace ${file} cannot be read: ${error.message}.`);
  });
  const target = readText(flags.html);
  if (target !== undefined || flags.open?.value === true) {
    await showPage(terminal, { bytes, file }, { target, isOpened: flags.open?.value === true });
    return;
  }
  const [header, ...lines] = parseTrace({ bytes, file });
  const stories = lines.flatMap((line) => (line.type === 'story' ? line : []));
  if (flags.json?.value === true) {
    for (const { type: _, ...story } of stories) terminal.out(JSON.stringify(story));
    return;
  }
  const entries = lines.flatMap((line) => (line.type === 'entry' ? line : []));
  for (const line of describeHeader(header, entries)) terminal.out(toPrintable(line));
  for (const story of stories) {
    terminal.out('');
    for (const line of story.lines) terminal.out(toPrintable(line));
  }
  const refused = entries.flatMap(({ kind, data }) => {
    const { id, method, path, status, reason } = data as Readonly<Record<string, unknown>>;
    const isRefused = (kind === 'request' || kind === 'mail-command') && Number(status) >= 400;
    return isRefused ? `  ${id}, ${method} ${path} → ${status}: ${reason}` : [];
  });
  if (refused.length > 0) terminal.out('');
  for (const line of refused.length > 0 ? ['Refused requests:', ...refused] : []) terminal.out(toPrintable(line));
};

interface PageOptions {
  /** The HTML file to write; undefined if none is wanted. */
  readonly target: string | undefined;
  /** Whether the page is served and opened in a browser. */
  readonly isOpened: boolean;
}

/** Writes a trace as a page, and serves the page until the command is interrupted. */
async function showPage(
  { out, err, env, interrupted }: Terminal,
  trace: TraceFile,
  { target, isOpened }: PageOptions,
): Promise<void> {
  const { servePage, writeTracePage } = await import('../../server/http/trace-page.ts');
  const page = await writeTracePage(trace.bytes, parseLines(trace));
  if (target !== undefined) {
    await replaceFile(target, page).catch((error) => {
      throw explainWriteError(error, target);
    });
    out(`The page is in ${target}.`);
  }
  if (!isOpened) return;
  const { url, close } = await servePage(page);
  out(`The trace is at ${url} until you end this command.`);
  (await import('./open-browser.ts')).openBrowser(url, env, err);
  await interrupted;
  close();
}

type EntryLine = Extract<TraceLine, { type: 'entry' }>;

function describeHeader({ writtenAt, sandbox, losses }: TraceHeader, entries: readonly EntryLine[]): string[] {
  const count = (...kinds: readonly string[]) => entries.filter(({ kind }) => kinds.includes(kind)).length;
  const numbers = [
    plural(count('mail-received'), 'mail arrived', 'mails arrived'),
    plural(count('mail-sent'), 'was sent', 'were sent'),
    plural(count('request', 'mail-command'), 'request', 'requests'),
  ];
  const dropped = Object.entries(losses).map(([kind, loss]) => `${loss?.count} of the kind ${kind}`);
  return [
    `Trace of ${writtenAt}${sandbox === null ? '' : `, sandbox ${sandbox}`}: ${numbers.join(', ')}.`,
    ...(dropped.length > 0 ? [`The journal no longer had some earlier entries: ${dropped.join(', ')}.`] : []),
  ];
}

function plural(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** The content of the file of a trace, and its name. */
interface TraceFile {
  readonly bytes: Buffer;
  readonly file: string;
}

/** Parses a trace: its header, and its other lines. @throws {CannotRunError} if the file is no trace of this format. */
function parseTrace(trace: TraceFile): readonly [TraceHeader, ...TraceLine[]] {
  const [header, ...lines] = parseLines(trace);
  return [header as TraceHeader, ...lines];
}

/**
 * Parses the lines of a trace, one at a time, because a trace may be long. The first one is the header.
 *
 * @throws {CannotRunError} if the file is no trace of this format.
 */
function* parseLines({ bytes, file }: TraceFile): Generator<TraceLine, void> {
  let hasHeader = false;
  for (const [index, text] of bytes.toString().split('\n').entries()) {
    const line = text.trim() === '' ? undefined : parseLine(text, index + 1, file);
    if (!line) continue;
    if (!hasHeader && line.type !== 'trace') break;
    hasHeader = true;
    yield line;
  }
  if (hasHeader) return;
  throw new CannotRunError(`The file ${file} is not a trace of ${NAME}: its first line must have the type "trace".`);
}

const KNOWN_TYPES: ReadonlySet<string> = new Set<TraceLine['type']>(['trace', 'entry', 'story']);

/** Parses a line. A line of a type that this version does not know is skipped. */
function parseLine(line: string, number: number, file: string): TraceLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new CannotRunError(`The file ${file} is not a trace of ${NAME}: line ${number} is not JSON.`);
  }
  const { type, version } = Object(value) as { readonly type?: unknown; readonly version?: unknown };
  if (type === 'trace' && Number(version) > TRACE_VERSION) {
    throw new CannotRunError(
      `The trace ${file} has the version ${version}, and this ${NAME} reads up to ${TRACE_VERSION}; use a newer one.`,
    );
  }
  if (typeof type === 'string' && !KNOWN_TYPES.has(type)) return undefined;
  const parsed = traceLine().safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') || 'it';
  throw new CannotRunError(`The file ${file} is not a trace of ${NAME}: line ${number}: ${path}: ${issue?.message}.`);
}
