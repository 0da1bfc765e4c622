import { parseForeignJson } from '../basics/foreign-json.ts';
import { NAME } from '../basics/version.ts';
import { BehaviourError } from '../contract/behaviours.ts';
import { applyProfile, changesIn, type Profile } from '../contract/profile.ts';
import { CannotRunError } from './command.ts';
import { readNamedFile } from './files.ts';

/** Returns a profile as the text of its file. */
export function formatProfile(profile: Profile): string {
  return `${JSON.stringify(profile, undefined, 2)}\n`;
}

/**
 * Reads a profile, and prints which of its values differ from the defaults.
 *
 * @throws {CannotRunError} if the file cannot be read, is not a profile, or has an unknown behaviour or value.
 */
export async function readProfile(file: string, print: (line: string) => void): Promise<Profile> {
  const profile = parse(String(await readNamedFile(file, 'profile')), file);
  try {
    applyProfile(profile);
  } catch (error) {
    throw error instanceof BehaviourError ? new CannotRunError(`${file}: ${error.message}`) : error;
  }
  const changes = changesIn(profile);
  const count = changes.length === 1 ? '1 default differs' : `${changes.length} defaults differ`;
  const summary = changes.length === 0 ? 'no default differs' : `${count}: ${changes.join(', ')}`;
  print(`Profile ${file}: ${summary}.`);
  return profile;
}

function parse(text: string, file: string): Profile {
  try {
    const profile = parseForeignJson(text) as Partial<Profile> | null;
    if (typeof profile?.behaviours === 'object' && profile.behaviours !== null) return profile as Profile;
  } catch (error) {
    throw new CannotRunError(`The profile ${file} cannot be read as JSON: ${(error as Error).message}.`);
  }
  throw new CannotRunError(
    `The profile ${file} must be an object with "behaviours", as ${NAME} profile init writes it.`,
  );
}
