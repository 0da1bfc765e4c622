import { findNearest } from './nearest.ts';

/**
 * Returns the options unchanged. `names` are the options that the function has.
 *
 * @throws {TypeError} if the function does not have one of the options. The message names a similar option and lists
 * all options.
 */
export function checkOptions<Options extends object>(functionName: string, options: Options, names: readonly string[]) {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return options;
  const [near] = findNearest(unknown, names);
  const hint = near === undefined ? 'there are' : `did you mean ${near}? There are`;
  throw new TypeError(`${functionName} has no option ${JSON.stringify(unknown)}; ${hint}: ${names.join(', ')}.`);
}
