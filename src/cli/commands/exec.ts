import { NAME } from '../../basics/version.ts';
import { chooseUrl, urlOfSandbox } from '../../control/table/emulator-urls.ts';
import { type GivenFlags, quote, type RunCommand, readText, type Terminal, UsageError } from '../command.ts';
import { createEmulatorClient } from '../control-client.ts';
import { findFixtureFile } from '../files.ts';
import { variableOf } from '../flags.ts';
import { readForce } from '../output-file.ts';
import { connectionVariables, serviceVariables } from './connection-variables.ts';
import { checkReportFolder, writeReport } from './report.ts';
import { runChild } from './run-child.ts';
import { startWithData, writeVariables } from './start.ts';
import { readStartSettings } from './start-settings.ts';
import { parseTrace, saveTrace } from './trace-file.ts';

/**
 * Starts an emulator, runs another command, and returns the exit code of that command. If the variable `MAILBOX_URLS`
 * lists running emulators, no emulator is started, and the command gets a sandbox of an emulator in the list.
 */
export const exec: RunCommand = async (terminal, flags, _, command) => {
  const emulatorUrl = chooseUrl(terminal.env);
  if (emulatorUrl !== undefined) return runInSandbox(terminal, emulatorUrl, flags, command);
  const settings = readStartSettings(flags, 0);
  const { fixtures = findFixtureFile(), envFile } = settings;
  const report = readText(flags.report);
  if (report !== undefined) await checkReportFolder(report, readForce(flags));
  const traceTarget = await parseTrace(flags);
  const { err, showStatus } = terminal;
  const output = { print: err, reportLoaded: err, showStatus, log: flags.log?.value === true ? err : undefined };
  await using server = await startWithData({ ...settings, fixtures }, output);
  const variables = connectionVariables(server);
  await using _file = envFile === undefined ? undefined : await writeVariables(envFile, variables);
  let exitCode = await runChild(command, { ...terminal.env, ...variables }, terminal.interrupted);
  if (exitCode !== 0 && report !== undefined) {
    // If the report cannot be written, the exit code does not change.
    const problem = await writeReport(report, server.mailbox, readForce(flags)).catch(({ message }: Error) => message);
    terminal.err(`${NAME}: ${problem ?? `The report is in ${report}.`}`);
  }
  await saveTrace(terminal, traceTarget, exitCode, async () => server.mailbox.trace());
  // If the server cannot save its state, the exit code becomes 1, unless the command itself has failed.
  await server.close().catch(({ message }: Error) => {
    terminal.err(`${NAME}: ${message}`);
    exitCode ||= 1;
  });
  return exitCode;
};

async function runInSandbox(terminal: Terminal, emulatorUrl: string, flags: GivenFlags, command: readonly string[]) {
  const { token, trace: _trace, 'trace-always': _always, force: _force, ...otherFlags } = flags;
  const [flag] = Object.values(otherFlags);
  if (flag) throw new UsageError(`${flag.source} is for an emulator that exec starts; omit it or unset MAILBOX_URLS.`);
  const traceTarget = await parseTrace(flags);
  const clientAt = (value: string) => createEmulatorClient({ url: { value, source: 'MAILBOX_URLS' }, token }).client;
  const created = await clientAt(emulatorUrl).createSandbox({ name: `exec ${quote(command[0])}`.slice(0, 200) });
  const url = urlOfSandbox(emulatorUrl, created, terminal.env);
  const { id, keys, ids } = created;
  const [[handle, inboxKey] = []] = Object.entries(keys.inboxes);
  const [workspaceKey] = Object.values(keys.workspaces);
  const variables = {
    ...serviceVariables(url, [keys.tenant, workspaceKey, inboxKey, ids.inboxes[handle ?? '']]),
    [variableOf('token')]: token && String(token.value),
    [variableOf('sandbox')]: id,
  };
  try {
    const exitCode = await runChild(command, { ...terminal.env, ...variables }, terminal.interrupted);
    await saveTrace(terminal, traceTarget, exitCode, async () =>
      (await clientAt(url).readTrace({}, { sandbox: id })).text(),
    );
    return exitCode;
  } finally {
    // If the sandbox cannot be closed, the exit code does not change.
    await clientAt(url)
      .closeSandbox({ id })
      .catch(({ message }: Error) => terminal.err(`${NAME}: ${message}`));
  }
}
