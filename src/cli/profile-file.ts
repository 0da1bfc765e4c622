import { writeFile } from 'node:fs/promises';
import { NAME } from '../basics/version.ts';
import { BehaviourError } from '../contract/behaviours.ts';
import { applyProfile, changesIn, defaultProfile, type Profile } from '../contract/profile.ts';
import { CannotRunError, quote, type RunCommand, textOfFlag, UsageError } from './command.ts';
import { DEFAULT_PROFILE_FILE, explainWriteError, readNamedFile } from './files.ts';

/** Writes the default value of each behaviour into a new file. Does not replace a file that exists. */
export const profile: RunCommand = async (terminal, flags, action) => {
  if (action !== 'init') throw new UsageError(`The command profile takes init, not ${quote(action ?? '')}.`);
  const file = textOfFlag(flags.file) ?? DEFAULT_PROFILE_FILE;
  await writeProfile(file, defaultProfile(), 'wx');
  terminal.out(`Wrote ${file}, with the default value of each behaviour. Use it with: ${NAME} --profile ${file}`);
};

/** Writes a profile as JSON. */
export async function writeProfile(file: string, content: Profile, flag: 'w' | 'wx' = 'w'): Promise<void> {
  await writeFile(file, `${JSON.stringify(content, undefined, 2)}\n`, { flag }).catch((error: unknown) => {
    throw explainWriteError(error, file);
  });
}

/**
 * Reads a profile, and prints which of its values differ from the defaults.
 *
 * @throws {CannotRunError} if the file cannot be read, is not a profile, or has an unknown behaviour or value.
 */
export async function readProfile(file: string, print: (line: string) => void): Promise<Profile> {
  const content = parse(String(await readNamedFile(file, 'profile')), file);
  try {
    applyProfile(content);
  } catch (error) {
    throw error instanceof BehaviourError ? new CannotRunError(`${file}: ${error.message}`) : error;
  }
  const changes = changesIn(content);
  const count = changes.length === 1 ? '1 default differs' : `${changes.length} defaults differ`;
  const summary = changes.length === 0 ? 'no default differs' : `${count}: ${changes.join(', ')}`;
  print(`Profile ${file}: ${summary}.`);
  return content;
}

function parse(text: string, file: string): Profile {
  try {
    const content = JSON.parse(text) as Partial<Profile> | null;
    if (typeof content?.behaviours === 'object' && content.behaviours !== null) return content as Profile;
  } catch (error) {
    throw new CannotRunError(`The profile ${file} cannot be read as JSON: ${(error as Error).message}.`);
  }
  throw new CannotRunError(
    `The profile ${file} must be an object with "behaviours", as ${NAME} profile init writes it.`,
  );
}
