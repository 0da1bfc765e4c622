// Looks for regular expressions whose work grows faster than their input: `npm run check:regex`.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { check } from 'recheck';
import { ROOT } from '../support/root.ts';
import { type Expression, findExpressions, recordExpressions } from './find-expressions.ts';
import { BUILT, EXCEPTIONS, READERS_OF_FOREIGN_TEXT, SCHEMAS } from './tables.ts';

/** A limit of time would make the result depend on the machine; this one only ends a check that never would. */
const LIMITS = { attackTimeout: null, incubationTimeout: null, seedingTimeout: null };
const LONGEST_CHECK_MS = 300_000;
/** Enough to see that an exception is no longer needed. */
const CHECK_OF_EXCEPTION_MS = 10_000;

const problems: string[] = [];

function readSource(): Expression[] {
  const files = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  return files.flatMap((file) => {
    const place = `src/${file}`;
    const { literals, built } = findExpressions(place, readFileSync(ROOT + place, 'utf8'));
    if (built > 0 && !(place in BUILT)) problems.push(`${place} builds an expression: add it to BUILT.`);
    return literals;
  });
}

function readPackages(): Expression[] {
  return Object.values(READERS_OF_FOREIGN_TEXT)
    .flat()
    .flatMap((file) => findExpressions(file, readFileSync(`${ROOT}node_modules/${file}`, 'utf8')).literals);
}

async function readBuilt(): Promise<Expression[]> {
  const built: Expression[] = [];
  for (const [place, build] of [...Object.entries(BUILT), ['the schemas', SCHEMAS] as const]) {
    const found = await recordExpressions(place, build);
    if (found.length === 0) problems.push(`The row of ${place} in BUILT builds no expression.`);
    built.push(...found);
  }
  return built;
}

const checks = new Map<string, ReturnType<typeof check>>();

/** Checks an expression; what several places have is checked only once. */
function checkOnce(text: string, timeout: number) {
  const key = `${timeout} ${text}`;
  const [, source = '', flags = ''] = /^\/(.*)\/(\w*)$/s.exec(text) ?? [];
  const found = checks.get(key) ?? check(source, flags, { ...LIMITS, timeout });
  checks.set(key, found);
  return found;
}

/** Returns a sentence if an expression is not accepted, or has an exception that is not needed. */
async function judge({ place, text }: Expression): Promise<string | undefined> {
  const isExcepted = EXCEPTIONS.some((exception) => exception.place === place && exception.text === text);
  const timeout = isExcepted ? CHECK_OF_EXCEPTION_MS : LONGEST_CHECK_MS;
  const found = await checkOnce(text, timeout);
  if (isExcepted) return found.status === 'safe' ? `${place}: ${text} is safe, and needs no exception.` : undefined;
  if (found.status === 'safe') return undefined;
  if (found.status === 'unknown') return `${place}: ${text} cannot be judged.`;
  return `${place}: ${text} is ${found.complexity.summary}, for example for ${found.attack.pattern}.`;
}

// What is built while a module loads is seen only if no import has loaded it before.
const all = [...(await readBuilt()), ...readSource(), ...readPackages()];
// Exceptions are by place, so an expression is judged once for each place that has it.
const expressions = [...new Map(all.map((each) => [`${each.place} ${each.text}`, each])).values()];
const { GROWTH } = await import('../growth/rows.ts');
for (const { place, text, growth } of EXCEPTIONS) {
  if (!expressions.some((each) => each.place === place && each.text === text)) {
    problems.push(`${place} has no ${text} any more: remove the exception.`);
  }
  if (!Object.keys(GROWTH).some((name) => name.startsWith(growth))) {
    problems.push(`No row of the growth test begins with "${growth}", which the exception of ${place} names.`);
  }
}
const queue = expressions.values();
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (const expression of queue) {
      const problem = await judge(expression);
      if (problem !== undefined) problems.push(problem);
    }
  }),
);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(
  `${expressions.length} regular expressions, ${EXCEPTIONS.length} exceptions, ${problems.length} problems\n`,
);
process.exit(problems.length > 0 ? 1 : 0);
