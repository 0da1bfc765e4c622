import { findSimilarNames } from './similar-names.ts';

/**
 * Checks the names of options, and returns the options unchanged. `names` lists all options of the function.
 *
 * @throws {TypeError} if the options are not an object, or if the function has no option with one of the names. The
 * message names a similar option and lists all options.
 */
export function checkOptions<Options extends object>(functionName: string, options: Options, names: readonly string[]) {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`${functionName} takes an object of options, not ${describeValue(given)}.`);
  }
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return options;
  const [similar] = findSimilarNames(unknown, names);
  const hint = similar === undefined ? 'there are' : `did you mean ${similar}? There are`;
  throw new TypeError(`${functionName} has no option ${JSON.stringify(unknown)}; ${hint}: ${names.join(', ')}.`);
}

/** Describes a value of any type, for the end of a sentence that says what a function takes. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100));
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
