import { styleText } from 'node:util';
import { maskText } from '../contract/mask.ts';

/** One line of the log. */
export interface Line {
  /** What a reader looks for first, such as `createWebhook` or `message.received`. */
  readonly name: string;
  /** What is shown after the name: the HTTP status, `←` for a mail that was received, or `!` for a problem. */
  readonly sign?: number | '←' | '!' | undefined;
  readonly text: string;
  /** The HTTP status that decides the colour of the line. Default: 200. */
  readonly status?: number | undefined;
}

/** Writes one log line. The time is that of the call, if none is given. An error from a function is reported. */
export type Log = (line: Line | (() => Line), at?: Date) => void;

/** The width of the column of names: the longest operation has 18 characters. */
const NAME_WIDTH = 18;

/** Keeps newer versions of Node from disabling colours on their own. */
const STYLE_OPTIONS = { validateStream: false };

/** The colour of a status, by its first digit. */
const COLOURS = ['red', 'cyan', 'green', 'cyan', 'yellow', 'red'] as const;

/** Options of a log. */
interface LogOptions {
  write(line: string): void;
  readonly isColoured: boolean;
  /** Receives each error that `write` throws. */
  report(error: unknown): void;
}

/** Creates a log whose lines begin with the time of day, have columns, and contain no secrets. It never throws. */
export function createLog({ write, isColoured, report }: LogOptions): Log {
  const colourise = (format: Parameters<typeof styleText>[0], text: string) =>
    isColoured ? styleText(format, text, STYLE_OPTIONS) : text;

  return (line, at = new Date()) => {
    const time = at.toTimeString().slice(0, 'hh:mm:ss'.length);
    try {
      const { name, sign = '', text, status = 200 } = typeof line === 'function' ? line() : line;
      const columns = toPrintable(`${name.padEnd(NAME_WIDTH)} ${String(sign).padEnd(3)} ${text}`);
      const colour = COLOURS[Number(String(status).charAt(0))] ?? 'red';
      write(`${colourise('dim', time)} ${colourise(colour, maskSecrets(columns))}`);
    } catch (error) {
      report(error);
    }
  };
}

/** Replaces characters that could break a line, imitate another line or move a terminal's cursor. */
export function toPrintable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}

/** Masks secrets as `maskText` does, and also texts that begin like a key but are too short. */
export function maskSecrets(text: string): string {
  return maskText(text).replace(/(sa|tk|wk|ak)_[\w-]+(?![\w…-])/g, (key) => `${key.slice(0, 3)}…`);
}
