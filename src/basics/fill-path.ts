import { describeValue } from './check-options.ts';

/**
 * Returns why a value cannot be a parameter of a path, as the end of a sentence that begins with its name; `undefined`
 * if it can be one. A URL resolves the segments `.` and `..`, also if they are encoded, so that a request with such a
 * parameter would be another request.
 */
export function findParameterProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return `must be a text, not ${describeValue(value)}`;
  if (value === '') return 'must be a text that is not empty';
  if (value === '.' || value === '..') return `must not be "${value}", because a URL with it leads to another path`;
  return /\p{Surrogate}/u.test(value) ? 'must not have half of a surrogate pair, which no URL can contain' : undefined;
}

/**
 * Fills the parameters of a path such as `/v1/webhooks/{id}`. This is the only way in which a text that comes from
 * elsewhere gets into a path: every character with a meaning in a URL is encoded. `read` returns the value of a
 * parameter. `refuse` creates the error for a parameter, and gets the end of its sentence.
 *
 * @throws what `refuse` returns.
 */
export function fillPath(
  path: string,
  read: (name: string) => unknown,
  refuse: (name: string, problem: string) => Error = (name, problem) =>
    new TypeError(`The parameter ${name} of ${path} ${problem}.`),
): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = read(name);
    const problem = findParameterProblem(value);
    if (problem !== undefined) throw refuse(name, problem);
    return encodeURIComponent(String(value));
  });
}
