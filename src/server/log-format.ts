import { styleText } from 'node:util';
import { maskText } from '../contract/mask.ts';

/**
 * Writes one log line. The status, if given, decides its colour. The time is that of the call, if none is given. An
 * error from a `text` function is reported.
 */
export type Log = (text: string | (() => string), status?: number, at?: Date) => void;

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

/** Creates a log whose lines begin with the time of day and contain no secrets. It never throws. */
export function createLog({ write, isColoured, report }: LogOptions): Log {
  const colourise = (format: Parameters<typeof styleText>[0], text: string) =>
    isColoured ? styleText(format, text, STYLE_OPTIONS) : text;

  return (text, status = 200, at = new Date()) => {
    const time = at.toTimeString().slice(0, 'hh:mm:ss'.length);
    const colour = COLOURS[Number(String(status).charAt(0))] ?? 'red';
    try {
      write(`${colourise('dim', time)} ${colourise(colour, maskSecrets(typeof text === 'string' ? text : text()))}`);
    } catch (error) {
      report(error);
    }
  };
}

/** Masks secrets as `maskText` does, and also texts that begin like a key but are too short. */
export function maskSecrets(text: string): string {
  return maskText(text).replace(/(sa|tk|wk|ak)_[\w-]+(?![\w…-])/g, (key) => `${key.slice(0, 3)}…`);
}
