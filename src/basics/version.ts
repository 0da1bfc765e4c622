import packageJson from '../../package.json' with { type: 'json' };

/** The name and version of this package. */
export const NAME: string = packageJson.name;
export const VERSION: string = packageJson.version;

/** The oldest version of Node with which the emulator works. `engines` in package.json says the same. */
const OLDEST_NODE = [20, 19] as const;

/**
 * Checks that Node is not too old. Other runtimes are accepted.
 *
 * @throws {Error} if Node is too old. The message names the oldest version that works, and the version of this Node.
 */
export function checkNodeVersion(version: string | undefined = runningNode()): void {
  const [major = 0, minor = 0] = version?.split('.').map(Number) ?? OLDEST_NODE;
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new Error(`Node ${OLDEST_NODE.join('.')} or newer is needed, and this is Node ${version}.`);
}

function runningNode(): string | undefined {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node;
}
