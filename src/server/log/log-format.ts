import { styleText } from 'node:util';

/** Writes one line about something that happened; its colour is that of the status, where it has one. A failure to make the text is reported. */
export type Log = (text: string | (() => string), status?: number) => void;

/** Newer versions of Node would decide on colour once more. */
const AS_DECIDED = { validateStream: false };

/** The colour of a status: that of its first digit. */
const COLOURS: Readonly<Record<string, 'green' | 'cyan' | 'yellow' | 'red'>> = {
  1: 'cyan',
  2: 'green',
  3: 'cyan',
  4: 'yellow',
  5: 'red',
};

/** Where a log writes, and how. */
interface LogOptions {
  write(line: string): void;
  readonly isColoured: boolean;
  /** Gets what `write` throws. */
  report(error: unknown): void;
}

/** Creates a log of lines that begin with the time of day and show no secret. It never throws. */
export function createLog({ write, isColoured, report }: LogOptions): Log {
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    isColoured ? styleText(format, text, AS_DECIDED) : text;

  return (text, status = 200) => {
    const time = new Date().toTimeString().slice(0, 'hh:mm:ss'.length);
    const colour = COLOURS[String(status).charAt(0)] ?? 'red';
    try {
      write(`${paint('dim', time)} ${paint(colour, maskSecrets(typeof text === 'string' ? text : text()))}`);
    } catch (error) {
      report(error);
    }
  };
}

/** Shortens every key in a text to what tells it from others, `tk_acme_…`, and leaves out other secrets and logins. */
export function maskSecrets(text: string): string {
  return text
    .replace(/whsec_[\w+/=-]+/g, 'whsec_…')
    .replace(/\/\/[^/@\s]+@/g, '//…@')
    .replace(/(sa|tk|wk|ak)_[\w-]+/g, (key) => (key.length < 13 ? `${key.slice(0, 3)}…` : `${key.slice(0, 8)}…`));
}
