/**
 * The oldest msw that works: its handlers take a predicate, and a second `listen()` intercepts WebSockets, too, as it
 * does not in msw 2.12. `peerDependencies` in package.json says the same.
 */
export const OLDEST_MSW = '2.13.0';

const HANDLERS = 'The handlers of a mailbox';

/** Returns the error that reading `handlers` throws if msw could not be loaded. The error says what the user can do. */
export function explainMswError(error: unknown): Error {
  const advice =
    `${HANDLERS} need msw, which Jest can load from CommonJS only in Node 24.9 or newer with ` +
    'NODE_OPTIONS=--experimental-vm-modules; otherwise, start a server by agent-mailbox-mock/server inside the test.';
  return explainMissingMsw(HANDLERS, error) ?? explainOldMsw(error) ?? new Error(advice, { cause: error });
}

/** Returns an error that says how to install msw if an import failed because msw is missing; otherwise `undefined`. */
export function explainMissingMsw(what: string, error: unknown): Error | undefined {
  const isMissing = /^Cannot find (?:package|module) ['"]msw[/'"]/.test(error instanceof Error ? error.message : '');
  if (!isMissing) return undefined;
  return new Error(`${what} need msw, which is not installed; install it with npm install --save-dev msw.`, {
    cause: error,
  });
}

/**
 * Returns an error that names the version of msw which is installed and the one that is needed, if the former is older;
 * otherwise, or if the version is not known, as in a web page, `undefined`.
 */
export function explainOldMsw(error: unknown, installed: string | undefined = readMswVersion()): Error | undefined {
  if (installed === undefined || !isOlder(installed, OLDEST_MSW)) return undefined;
  return new Error(
    `${HANDLERS} need msw ${OLDEST_MSW} or newer, and msw ${installed} is installed; ` +
      'install a newer one with npm install --save-dev msw@2.',
    { cause: error },
  );
}

/** The part of Node's module `node:module` that is used here. */
interface NodeModule {
  createRequire(path: string): (name: string) => { readonly version?: unknown };
}

/** Reads the version of the msw in the working folder; `undefined` if there is none, or if this is not Node. */
function readMswVersion(): string | undefined {
  const { process } = globalThis as { process?: { cwd(): string; getBuiltinModule?(name: string): unknown } };
  const nodeModule = process?.getBuiltinModule?.('node:module') as NodeModule | undefined;
  if (process === undefined || nodeModule === undefined) return undefined;
  try {
    const { version } = nodeModule.createRequire(`${process.cwd()}/`)('msw/package.json');
    return typeof version === 'string' ? version : undefined;
  } catch {
    // Without msw, or where its package.json cannot be read, the error that is to be explained says more.
    return undefined;
  }
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [thanMajor = 0, thanMinor = 0] = than.split('.').map(Number);
  return major < thanMajor || (major === thanMajor && minor < thanMinor);
}
