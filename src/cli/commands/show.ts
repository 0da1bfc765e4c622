import { createReadStream } from 'node:fs';
import { toPrintable, toPrintableJson } from '../../basics/printable.ts';
import { plural } from '../../basics/text.ts';
import { describeCall, isRefused } from '../../control/journal/from-entries/call-of.ts';
import type { RequestEntry } from '../../control/journal/request-entry.ts';
import type { TraceHeader, TraceLine } from '../../control/trace.ts';
import { readRegularFile } from '../../server/regular-file.ts';
import { type RunCommand, readText, type Terminal } from '../command.ts';
import { checkOutput, OUTPUT_KINDS, type OutputOptions, readForce, writeOutput } from '../output-file.ts';
import { readTrace } from './read-trace.ts';

/**
 * Prints what happened to each mail of a trace, and the requests that were refused. With `--open` or `--html`, makes a
 * page of the trace instead.
 */
export const show: RunCommand = async (terminal, flags, file = '') => {
  const target = readText(flags.html);
  if (target !== undefined || flags.open?.value === true) {
    await showPage(terminal, file, { target, isOpened: flags.open?.value === true, ...readForce(flags) });
    return;
  }
  let header: TraceHeader | undefined;
  const stories: StoryLine[] = [];
  const refused: string[] = [];
  const counts = new Map<string, number>();
  for await (const lines of readTrace(file)) {
    for (const line of lines) {
      if (line.type === 'trace') header = line;
      else if (line.type === 'story') stories.push(line);
      else if (line.type === 'entry') {
        counts.set(line.kind, (counts.get(line.kind) ?? 0) + 1);
        refused.push(...describeRefusal(line));
      }
    }
  }
  if (flags.json?.value === true) {
    for (const { type: _, ...story } of stories) terminal.out(toPrintableJson(story));
    return;
  }
  for (const line of header ? describeHeader(header, counts) : []) terminal.out(toPrintable(line));
  for (const story of stories) {
    terminal.out('');
    for (const line of story.lines) terminal.out(toPrintable(line));
  }
  if (refused.length > 0) terminal.out('');
  for (const line of refused.length > 0 ? ['Refused requests:', ...refused] : []) terminal.out(toPrintable(line));
};

interface PageOptions extends OutputOptions {
  /** The HTML file to write; undefined if none is wanted. */
  readonly target: string | undefined;
  /** Whether the page is served and opened in a browser. */
  readonly isOpened: boolean;
}

/** Writes a trace as a page, and serves the page until the command is interrupted. */
async function showPage(
  { out, err, env, interrupted }: Terminal,
  file: string,
  { target, isOpened, force }: PageOptions,
): Promise<void> {
  const { serveTrace, writeTracePage } = await import('../../server/http/trace-page.ts');
  if (target !== undefined) {
    await checkOutput(target, OUTPUT_KINDS.page, { force });
    for await (const _ of readTrace(file));
    const page = await writeTracePage(await readRegularFile(file));
    await writeOutput(target, OUTPUT_KINDS.page, page, { force });
    out(`The page is in ${target}.`);
  }
  if (!isOpened) return;
  // A file that is no trace is not opened. The page checks the lines that follow, because to do so here would take long.
  for await (const _ of readTrace(file)) break;
  const { url, close } = await serveTrace(() => createReadStream(file));
  out(`The trace is at ${url} until you end this command.`);
  (await import('./open-browser.ts')).openBrowser(url, env, err);
  await interrupted;
  close();
}

type StoryLine = Extract<TraceLine, { type: 'story' }>;
type EntryLine = Extract<TraceLine, { type: 'entry' }>;

/** Describes a request that was refused in a line; an empty list for other entries. */
function describeRefusal({ kind, data }: EntryLine): string[] {
  if (kind !== 'request' && kind !== 'mail-command') return [];
  const request = data as unknown as RequestEntry;
  return isRefused(request) ? [`  ${request.id}, ${describeCall(request)}: ${request.reason}`] : [];
}

function describeHeader({ writtenAt, sandbox, losses }: TraceHeader, counts: ReadonlyMap<string, number>): string[] {
  const count = (...kinds: readonly string[]) => kinds.reduce((sum, kind) => sum + (counts.get(kind) ?? 0), 0);
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
