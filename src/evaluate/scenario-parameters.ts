import { describeValue } from '../basics/check-options.ts';
import { showJsonPath } from '../basics/json-path.ts';
import { isPlainObject } from '../basics/objects.ts';
import { didYouMean } from '../basics/similar-names.ts';
import { ScenarioError, type ScenarioProblem, type ScenarioSource } from './parse-scenarios.ts';

/** Values of parameters, by their names. */
export type ParameterValues = Readonly<Record<string, string>>;

/** What the name of a parameter is: a letter, and then letters, digits, `-` and `_`. */
const NAME = /^[a-z][\w-]*$/i;

/** A place in a text that stands for the value of a parameter. */
const PLACE = /\{\{ ?([a-z][\w-]*) ?\}\}/gi;

/** How deep values are searched. Values that are nested more deeply are in no scenario. */
const MAX_DEPTH = 100;

/** How many characters the values of parameters may add to the scenarios of one file. */
const MAX_ADDED = 10 * 1024 * 1024;

type Path = readonly PropertyKey[];

/**
 * Puts the values of parameters into scenarios, before they are checked. A scenario has its parameters with their default
 * values in the field `parameters`, which is removed; `{{name}}` in each of its texts becomes the value of `name`. A
 * scenario without this field stays as it is.
 *
 * @param values - Values for this run, in place of the default values.
 * @throws {ScenarioError} for a parameter that is no text, for `{{name}}` of a parameter that the scenario does not have,
 *   and for a value of this run that belongs to no scenario.
 */
export function applyParameters(sources: readonly ScenarioSource[], values: ParameterValues = {}): ScenarioSource[] {
  const problems: ScenarioProblem[] = [];
  const ofRun = new Map(Object.entries(values));
  const known = new Set<string>();
  const applied = sources.map((source) => {
    const { value } = source;
    let added = 0;

    const report = (path: Path, message: string) =>
      void problems.push({ file: source.file, line: source.lineOf?.(path), path: showJsonPath(path), message });

    function applyToItem(item: unknown, path: Path): unknown {
      if (!isPlainObject(item) || 'samples' in item || item.parameters === undefined) return item;
      const { parameters, ...scenario } = item;
      if (!isPlainObject(parameters)) {
        report([...path, 'parameters'], `must be an object of names and texts, not ${describeValue(parameters)}`);
        return scenario;
      }
      const texts = new Map<string, string>();
      for (const [name, text] of Object.entries(parameters)) {
        const at = [...path, 'parameters', name];
        if (!NAME.test(name)) report(at, 'must be named by a letter, and then letters, digits, - and _');
        if (typeof text !== 'string') report(at, `must be a text, not ${describeValue(text)}`);
        known.add(name);
        texts.set(name, ofRun.get(name) ?? (typeof text === 'string' ? text : ''));
      }
      return fill(scenario, path, texts);
    }

    function fill(part: unknown, path: Path, texts: ReadonlyMap<string, string>): unknown {
      if (typeof part === 'string') return fillText(part, path, texts);
      if (path.length > MAX_DEPTH) return part;
      if (Array.isArray(part)) return part.map((each, index) => fill(each, [...path, index], texts));
      if (!isPlainObject(part)) return part;
      return Object.fromEntries(
        Object.entries(part).map(([name, each]) => {
          return [name, fill(each, [...path, name], texts)];
        }),
      );
    }

    function fillText(text: string, path: Path, texts: ReadonlyMap<string, string>): string {
      return text.replace(PLACE, (place, name: string) => {
        const filled = texts.get(name);
        if (filled === undefined) {
          const hint = didYouMean(name, [...texts.keys()]) || `; its parameters are ${[...texts.keys()].join(', ')}`;
          report(path, `has ${place}, but the scenario has no parameter ${name}${hint}`);
          return place;
        }
        added += filled.length;
        if (added <= MAX_ADDED) return filled;
        const message = `becomes too large: its parameters add more than ${MAX_ADDED / 1024 / 1024} MiB`;
        throw new ScenarioError([
          { file: source.file, line: source.lineOf?.(path), path: showJsonPath(path), message },
        ]);
      });
    }

    if (!Array.isArray(value)) return { ...source, value: applyToItem(value, []) };
    return { ...source, value: value.map((item, index) => applyToItem(item, [index])) };
  });
  for (const name of ofRun.keys()) {
    if (known.has(name)) continue;
    const hint = didYouMean(name, [...known]) || `; ${listParameters(known)}`;
    const message = `is not a parameter of these scenarios${hint}`;
    problems.push({ file: undefined, line: undefined, path: JSON.stringify(name), message });
  }
  if (problems.length > 0) throw new ScenarioError(problems);
  return applied;
}

function listParameters(known: ReadonlySet<string>): string {
  return known.size === 0 ? 'they have none' : `their parameters are ${[...known].join(', ')}`;
}
