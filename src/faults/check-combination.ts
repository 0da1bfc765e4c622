import type { z } from 'zod';

/** The options of a request fault that say what happens, before their combination is checked. */
type Options = Readonly<Record<string, unknown>>;

/** What a request fault can do; it needs one of them. */
const EFFECTS = ['status', 'body', 'headers', 'latency', 'cut', 'rateLimit'];

/** The options that each option excludes. */
const EXCLUDED: Readonly<Record<string, readonly string[]>> = {
  cut: ['status', 'body', 'headers'],
  rateLimit: ['status', 'body', 'headers', 'latency', 'cut', 'effect', 'after', 'times'],
};

/** The statuses whose replies have no body. */
const WITHOUT_BODY: readonly unknown[] = [204, 205, 304];

/** Adds a problem for each combination of options of a request fault that makes no sense. */
export function checkCombination(options: Options, context: z.RefinementCtx): void {
  const isGiven = (name: string) => options[name] !== undefined;
  const refuse = (name: string | undefined, message: string) =>
    context.addIssue({ code: 'custom', path: name === undefined ? [] : [name], message });

  if (!EFFECTS.some(isGiven)) refuse(undefined, `must have one of ${EFFECTS.join(', ')}`);
  for (const [name, excluded] of Object.entries(EXCLUDED)) {
    const other = isGiven(name) ? excluded.find(isGiven) : undefined;
    if (other !== undefined) refuse(other, `must not be combined with ${name}`);
  }
  if (options.effect === 'none' && !isGiven('status') && !isGiven('cut')) {
    refuse('effect', 'must be applied if the fault has neither status nor cut');
  }
  if (isGiven('body') && WITHOUT_BODY.includes(options.status)) {
    refuse('body', `must not be combined with the status ${options.status}, which has no body`);
  }
}
