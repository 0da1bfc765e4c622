import { z } from 'zod';
import { describeValue } from '../basics/check-options.ts';
import type { InputOf } from '../basics/lazy-schema.ts';
import { isPlainObject } from '../basics/objects.ts';
import { didYouMean } from '../basics/similar-names.ts';

/** What a schema says of a value that it refuses. */
export interface Rule {
  /** Writes the message, as the end of a sentence that begins with the field. */
  readonly error: (issue: { readonly input?: unknown }) => string;
}

/** Says what is right where something is missing or wrong, such as `a text`. */
export function mustBe(what: string): Rule {
  return {
    error: ({ input }) =>
      input === undefined ? `is required, and must be ${what}` : `must be ${what}, not ${describeValue(input)}`,
  };
}

/** Says the same of a name that is not known, with the names that are similar. `what` says what the names are of. */
export function mustBeName(what: string, names: readonly string[]): Rule {
  const { error } = mustBe(what);
  return { error: (issue) => error(issue) + (typeof issue.input === 'string' ? didYouMean(issue.input, names) : '') };
}

/** A text that is not blank. */
export function filledText(what: string) {
  return z.string(mustBe(what)).regex(/\S/, mustBe(what));
}

/** An object with exactly one of these fields. */
export type OneOf<Values> = {
  readonly [Name in keyof Values]: { readonly [Each in Name]: Values[Each] } & {
    readonly [Other in Exclude<keyof Values, Name>]?: never;
  };
}[keyof Values];

/**
 * The schema of an object with exactly one of the fields in `named`, whose name says what the object is, such as
 * `{ advance: '1h' }`. It may have the fields in `others` besides. `noun` says what the names are of.
 */
export function oneNameOf<Named extends z.ZodRawShape, Others extends z.ZodRawShape>(
  noun: 'step' | 'expectation',
  named: Named,
  others: Others,
): z.ZodType<unknown, OneOf<InputOf<Named>> & InputOf<Others>> {
  const names = Object.keys(named);
  const fields = Object.entries(named).map(([name, schema]) => [name, z.optional(schema)]);
  const object = z
    .strictObject({ ...Object.fromEntries(fields), ...others })
    .meta({ oneOf: names.map((name) => ({ required: [name] })) });
  const checked = z.preprocess((given, context) => {
    const refuse = (path: string[], message: string) => {
      context.addIssue({ code: 'custom', path, message, input: given });
      return z.NEVER;
    };
    if (!isPlainObject(given))
      return refuse([], mustBe(`an object with the name of the ${noun}`).error({ input: given }));
    const found = Object.keys(given).filter((name) => !Object.hasOwn(others, name));
    const [name] = found;
    if (name === undefined || found.length > 1) {
      return refuse([], `must have exactly one ${noun}, and has ${name === undefined ? 'none' : found.join(', ')}`);
    }
    if (Object.hasOwn(named, name)) return given;
    const hint = didYouMean(name, names) || `; there are ${names.join(', ')}`;
    return refuse([name], `is not the name of ${noun === 'step' ? 'a' : 'an'} ${noun}${hint}`);
  }, object);
  // The type of a step or an expectation says that it has one field, which that of the object does not.
  return checked as z.ZodType<unknown, OneOf<InputOf<Named>> & InputOf<Others>>;
}
