import { cpSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { ROOT } from '../support/root.ts';
import { type Mutant, type SourceText, withSwitches } from './operators.ts';

/** What a copy of the project has, beside `src/` and `node_modules/`; each is left out if it is not there. */
const COPIED = ['test', 'fixtures', '.config', '.ci', '.github', 'package.json', 'tsconfig.json', 'README.md'];

/** Reads the code of these files and folders of the project, such as `src/world`. */
export function readSources(places: readonly string[]): SourceText[] {
  const paths = places.flatMap((place) => {
    if (!statSync(join(ROOT, place)).isDirectory()) return [place];
    const names = readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' });
    return names.map((name) => `${place}/${name.split(sep).join('/')}`);
  });
  const code = paths.filter((path) => /\.tsx?$/.test(path)).sort();
  return code.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/**
 * Copies the project into an empty folder, with all these mutants in its source; the number of each is its place in the
 * list. None runs until `switchOn` of `test/mutation/switch.ts` in the copy is called, or a process has MUTANT=<number>
 * in its environment. The files of the project stay as they are.
 */
export function createMutantCopy(folder: string, mutants: readonly Mutant[]): void {
  for (const name of ['src', ...COPIED].filter((each) => existsSync(join(ROOT, each)))) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const numbered = mutants.map((mutant, number) => ({ mutant, number }));
  for (const path of new Set(mutants.map((mutant) => mutant.path))) {
    const own = numbered.filter(({ mutant }) => mutant.path === path);
    const text = withSwitches(readFileSync(join(ROOT, path), 'utf8'), own, (number) => `isMutantOn(${number})`);
    const from = relative(dirname(path), 'test/mutation/switch.ts').split(sep).join('/');
    // At the end, so that each line keeps its number.
    writeFileSync(join(folder, path), `${text}import { isOn as isMutantOn } from '${from}';\n`);
  }
}
