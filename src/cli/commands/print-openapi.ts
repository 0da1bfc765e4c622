import type { BehaviourOptions } from '../../contract/behaviours.ts';
import { BehaviourError } from '../../contract/behaviours.ts';
import { createOpenApi } from '../../contract/openapi/create-openapi.ts';
import { applyProfile } from '../../contract/profile.ts';
import { type GivenFlags, parseEach, parsePair, type RunCommand, readText, UsageError } from '../command.ts';
import { readForce, writeOutput } from '../output-file.ts';
import { readProfile } from '../profile-file.ts';

/**
 * Prints the OpenAPI document of the service, or writes it to a file. The document describes an emulator that is
 * started with the same behaviours.
 */
export const printOpenApi: RunCommand = async (terminal, flags, file) => {
  const document = createOpenApi(await readBehaviours(flags, terminal.err));
  const text = JSON.stringify(document, undefined, 2);
  if (file === undefined) {
    terminal.out(text);
    return;
  }
  const title = JSON.stringify(document.info.title);
  const isOwn = (start: string) => /^\{\s*"openapi":/.test(start) && start.slice(0, 1024).includes(title);
  await writeOutput(file, { isOwn, isPrivate: false }, `${text}\n`, readForce(flags));
  terminal.out(`Wrote ${file}, the OpenAPI document of the service.`);
};

/** Reads the values of all behaviours from `--behaviour` and `--profile`. @throws {UsageError} on an unknown one. */
async function readBehaviours(flags: GivenFlags, print: (line: string) => void) {
  const file = readText(flags.profile);
  const profile = file === undefined ? undefined : await readProfile(file, print);
  const pairs = parseEach(flags.behaviour, (text, source) => parsePair(text, source, '<id>=<value>'));
  try {
    return applyProfile(profile, Object.fromEntries(pairs) as BehaviourOptions);
  } catch (error) {
    throw error instanceof BehaviourError ? new UsageError(error.message) : error;
  }
}
