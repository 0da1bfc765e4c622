import { createControlOpenApi } from '../../control/table/control-openapi.ts';
import { writePythonClient } from '../../control/table/python-client.ts';
import { listControlRows } from '../../control/table/table.ts';
import { quote, type RunCommand, UsageError } from '../command.ts';
import { DEFAULT_PYTHON_FILE } from '../files.ts';
import { readForce, writeOutput } from '../output-file.ts';

/** Writes the client for Python, the same that an emulator serves at `GET /__mock/client.py`. */
export const writeClient: RunCommand = async (
  terminal,
  flags,
  language = '',
  _otherCommand,
  [file = DEFAULT_PYTHON_FILE],
) => {
  if (language !== 'python') {
    throw new UsageError(
      `There is no client for ${quote(language)} to write; there is one for python. ` +
        'For JavaScript and TypeScript, import agent-mailbox-mock/client.',
    );
  }
  const text = writePythonClient(createControlOpenApi(listControlRows()));
  const [firstLine] = text.split('\n');
  const kind = { isOwn: (start: string) => start.split(/\r?\n/, 1)[0] === firstLine, isPrivate: false };
  await writeOutput(file, kind, text, readForce(flags));
  terminal.out(`Wrote ${file}, the client for Python.`);
};
