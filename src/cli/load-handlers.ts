import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { explainMissingMsw } from '../mailbox/explain-msw-error.ts';
import type { ListenOptions } from '../server/start-server.ts';
import { CannotRunError } from './command.ts';
import { readNamedFile } from './files.ts';

type Handlers = NonNullable<ListenOptions['handlers']>;

/**
 * Loads the user's own msw handlers from a module. Its default export or its export `handlers` must be a list, or a
 * function that receives the mailbox and returns a list.
 *
 * @throws {CannotRunError} if the module cannot be loaded, or has no such export.
 */
export async function loadHandlers(path: string): Promise<Handlers> {
  // Node's own error for a missing file does not say whether the file itself or one of its imports is missing.
  await readNamedFile(path, 'handlers file');
  const module = await import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
    throw explainModuleError(path, error);
  });
  const handlers = findHandlers(module);
  if (handlers === undefined) {
    throw new CannotRunError(
      `The handlers file ${path} must export, by default or as handlers, a list of msw handlers or a function that ` +
        'returns a list.',
    );
  }
  if (typeof handlers !== 'function') return handlers;
  return (mailbox) => {
    try {
      return handlers(mailbox);
    } catch (error) {
      throw explainModuleError(path, error);
    }
  };
}

/**
 * Finds the export. Node puts the exports of a CommonJS module inside the default export, and a module that was
 * compiled from TypeScript to CommonJS has one more default export inside.
 */
function findHandlers(module: Record<string, unknown>): Handlers | undefined {
  const inner = Object(module.default) as Record<string, unknown>;
  const candidates = [module.default, module.handlers, inner.default, inner.handlers];
  return candidates.find((value): value is Handlers => Array.isArray(value) || typeof value === 'function');
}

/** Turns an error of the user's module into an error with one sentence for the user. */
function explainModuleError(path: string, error: unknown): Error {
  const explained = explainMissingMsw('Your handlers', error);
  if (explained) return new CannotRunError(explained.message);
  if ((error as NodeJS.ErrnoException)?.code === 'ERR_UNKNOWN_FILE_EXTENSION') {
    return new CannotRunError(
      `Node ${process.version} cannot load the handlers file ${path}; use a .js or .mjs file, or TypeScript with ` +
        'Node 22.18 or newer.',
    );
  }
  const [reason = ''] = String(error instanceof Error ? error.message : error).split('\n');
  return new CannotRunError(`The handlers file ${path} cannot be loaded: ${reason.replace(/\.$/, '')}.`);
}
