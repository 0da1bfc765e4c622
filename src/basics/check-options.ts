import { findNearest } from './nearest.ts';

/**
 * Checks the names of options, and returns the options unchanged. `names` lists all options of the function.
 *
 * @throws {TypeError} if the function has no option with one of the names. The message names a similar option and lists
 * all options.
 */
export function checkOptions<Options extends object>(functionName: string, options: Options, names: readonly string[]) {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return options;
  const [similar] = findNearest(unknown, names);
  const hint = similar === undefined ? 'there are' : `did you mean ${similar}? There are`;
  throw new TypeError(`${functionName} has no option ${JSON.stringify(unknown)}; ${hint}: ${names.join(', ')}.`);
}
