import { describeValue } from '../basics/check-options.ts';
import { showJsonPath } from '../basics/json-path.ts';
import { isPlainObject } from '../basics/objects.ts';
import { didYouMean } from '../basics/similar-names.ts';
import { ScenarioError, type ScenarioItem, type ScenarioProblem, type ScenarioSource } from './parse-scenarios.ts';

/** Values of parameters, by their names. */
export type ParameterValues = Readonly<Record<string, string>>;

/** What the name of a parameter is: a letter, and then letters, digits, `-` and `_`. */
const NAME = /^[a-z][\w-]*$/i;

const NAME_RULE = 'must be named by a letter, and then letters, digits, - and _';

/** A place in a text that stands for the value of a parameter. */
const PLACE = /\{\{ ?([a-z][\w-]*) ?\}\}/gi;

/** How many rows `each` may have. */
const MAX_ROWS = 1_000;

/** How deep values are searched. Values that are nested more deeply are in no scenario. */
const MAX_DEPTH = 100;

/** How many characters parameters, and the rows of `each`, may add to the scenarios of one file. */
const MAX_ADDED = 10 * 1024 * 1024;

type Path = readonly PropertyKey[];

/**
 * Puts the values of parameters into scenarios, before they are checked. A scenario has its parameters with their default
 * values in the field `parameters`, and a table of values in the field `each`, of whose rows each becomes a scenario of its
 * own. Both fields are removed; `{{name}}` in each text becomes the value of `name`. A scenario without these fields stays as
 * it is.
 *
 * @param values - Values for this run, in place of the default values. A value of a row is not replaced.
 * @throws {ScenarioError} for a parameter that is no text, for a table that is none, for rows that become scenarios of the
 *   same name, for `{{name}}` of a parameter that the scenario does not have, and for a value of this run that belongs to no
 *   scenario.
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

    /** Counts what parameters add. @throws {ScenarioError} if it is too much. */
    function add(characters: number, path: Path): void {
      added += characters;
      if (added <= MAX_ADDED) return;
      const message = `becomes too large: its parameters add more than ${MAX_ADDED / 1024 / 1024} MiB`;
      throw new ScenarioError([{ file: source.file, line: source.lineOf?.(path), path: showJsonPath(path), message }]);
    }

    /** Returns the scenarios of an item: one, or one for each row of its table. */
    function applyToItem(item: unknown, path: Path): ScenarioItem[] {
      const isUsual = !isPlainObject(item) || 'samples' in item;
      if (isUsual || (item.parameters === undefined && item.each === undefined)) return [{ value: item, path }];
      const { parameters = {}, each, ...scenario } = item;
      const texts = readDefaults(parameters, [...path, 'parameters']);
      if (each === undefined)
        return [{ value: fill(scenario, path, texts), path, parameters: Object.fromEntries(texts) }];
      const items = readRows(each, [...path, 'each']).map((row, index): ScenarioItem => {
        const own = new Map([...texts, ...row]);
        const countPart = index === 0 ? undefined : add;
        return { value: fill(scenario, path, own, countPart), path, parameters: Object.fromEntries(own) };
      });
      const names = items.map((each) => (each.value as Readonly<Record<string, unknown>>).name);
      if (new Set(names).size < names.length) {
        report([...path, 'name'], 'must differ from row to row: put a value of each into it, such as {{column}}');
      }
      return items;
    }

    function readDefaults(parameters: unknown, path: Path): Map<string, string> {
      const texts = new Map<string, string>();
      if (!isPlainObject(parameters)) {
        report(path, `must be an object of names and texts, not ${describeValue(parameters)}`);
        return texts;
      }
      for (const [name, text] of Object.entries(parameters)) {
        const at = [...path, name];
        if (!NAME.test(name)) report(at, NAME_RULE);
        if (typeof text !== 'string') report(at, `must be a text, not ${describeValue(text)}`);
        known.add(name);
        texts.set(name, ofRun.get(name) ?? (typeof text === 'string' ? text : ''));
      }
      return texts;
    }

    /** Reads the rows of a table, each of which has the same columns. */
    function readRows(each: unknown, path: Path): ReadonlyMap<string, string>[] {
      if (!Array.isArray(each) || each.length === 0 || each.length > MAX_ROWS) {
        const given = Array.isArray(each) ? `a list of ${each.length}` : describeValue(each);
        report(path, `must be a list of 1 to ${MAX_ROWS} objects of names and values, not ${given}`);
        return [];
      }
      const columns = new Set(isPlainObject(each[0]) ? Object.keys(each[0]) : []);
      return each.map((row: unknown, index) => {
        const at = [...path, index];
        const texts = new Map<string, string>();
        if (!isPlainObject(row)) {
          report(at, `must be an object of names and values, not ${describeValue(row)}`);
          return texts;
        }
        for (const [name, cell] of Object.entries(row)) {
          const isCell = ['string', 'number', 'boolean'].includes(typeof cell);
          if (!NAME.test(name)) report([...at, name], NAME_RULE);
          else if (!columns.has(name)) report([...at, name], 'is unknown: the first row does not have it');
          if (!isCell) report([...at, name], `must be a text, a number, true or false, not ${describeValue(cell)}`);
          texts.set(name, String(cell));
        }
        const missing = [...columns].find((name) => !Object.hasOwn(row, name));
        if (missing !== undefined) report(at, `must have ${missing}, as the first row has`);
        return texts;
      });
    }

    /** Fills a part of a scenario. `count` is called with the size of each part, if the part is there once more. */
    function fill(part: unknown, path: Path, texts: ReadonlyMap<string, string>, count?: typeof add): unknown {
      count?.(typeof part === 'string' ? part.length + 1 : 1, path);
      if (typeof part === 'string') return fillText(part, path, texts);
      if (path.length > MAX_DEPTH) return part;
      if (Array.isArray(part)) return part.map((each, index) => fill(each, [...path, index], texts, count));
      if (!isPlainObject(part)) return part;
      return Object.fromEntries(
        Object.entries(part).map(([name, each]) => {
          return [name, fill(each, [...path, name], texts, count)];
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
        add(filled.length, path);
        return filled;
      });
    }

    const items = Array.isArray(value)
      ? value.flatMap((item, index) => applyToItem(item, [index]))
      : applyToItem(value, []);
    const [first] = items;
    const isList = Array.isArray(value) || items.length !== 1;
    const filled = { ...source, value: isList ? items.map((item) => item.value) : first?.value };
    return items.some(({ parameters }) => parameters) ? { ...filled, items } : filled;
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
