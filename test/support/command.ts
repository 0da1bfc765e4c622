import { stripVTControlCharacters } from 'node:util';
import type { Mailbox } from 'agent-mailbox-mock';
import type { Terminal } from '../../src/cli/command.ts';
import { run as runInProcess } from '../../src/cli/run.ts';

/** What the command prints with `--json`. */
export interface ReadyLine {
  readonly url: string;
  readonly port: number;
  readonly version: string;
  readonly keys: Readonly<Record<'operator' | 'tenant' | 'workspace' | 'inbox', string>>;
  readonly ids: Mailbox['ids'];
  readonly control: string;
  readonly fixtures?: string;
  readonly controlToken?: string;
  readonly smtp?: { readonly port: number };
}

/** A command that ends by itself is not interrupted. */
export const NEVER = new Promise<undefined>(() => {});

/** Runs the command in this process and interrupts it as soon as it is ready, unless it ends by itself. */
export async function runHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  {
    input = '',
    interrupted = Promise.resolve(undefined),
    ...terminal
  }: { input?: string } & Partial<Pick<Terminal, 'interrupted' | 'colour' | 'columns' | 'showStatus'>> = {},
) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runInProcess({
    args,
    env,
    colour: false,
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    input: async () => input,
    interrupted,
    ...terminal,
  });
  return { code, out, err: err.join('\n') };
}

/** The lines of a text, without colour and without the empty one after the last line end. */
export function linesOf(text: string): string[] {
  return stripVTControlCharacters(text).trimEnd().split(/\r?\n/);
}
