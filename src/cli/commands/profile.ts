import { NAME } from '../../basics/version.ts';
import { defaultProfile } from '../../contract/profile.ts';
import { quote, type RunCommand, textOfFlag, UsageError } from '../command.ts';
import { DEFAULT_PROFILE_FILE } from '../files.ts';
import { OUTPUT_KINDS, readForce, writeOutput } from '../output-file.ts';
import { formatProfile } from '../profile-file.ts';

/** Writes the default value of each behaviour into a new file. Replaces a file that exists only with `--force`. */
export const profile: RunCommand = async (terminal, flags, action) => {
  if (action !== 'init') throw new UsageError(`The command profile takes init, not ${quote(action ?? '')}.`);
  const file = textOfFlag(flags.file) ?? DEFAULT_PROFILE_FILE;
  await writeOutput(file, OUTPUT_KINDS.handMade, formatProfile(defaultProfile()), readForce(flags));
  terminal.out(`Wrote ${file}, with the default value of each behaviour. Use it with: npx ${NAME} --profile ${file}`);
};
