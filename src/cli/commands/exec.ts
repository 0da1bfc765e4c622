import { NAME } from '../../basics/version.ts';
import { placeOf, urlOfSandbox } from '../../control/table/place.ts';
import { type GivenFlags, quote, type RunCommand, type Terminal, UsageError } from '../command.ts';
import { findEmulator } from '../control-client.ts';
import { findFixtureFile } from '../files.ts';
import { EXEC_FLAGS, variableOf } from '../flags.ts';
import { connectionVariables, serviceVariables } from './connection-variables.ts';
import { checkReportFolder, writeReport } from './report.ts';
import { runChild } from './run-child.ts';
import { listen, writeVariables } from './start.ts';
import { parseOne, parseStartSettings } from './start-settings.ts';

/**
 * Runs another command beside an emulator, and returns the exit code of that command. With the variable `MAILBOX_URLS`,
 * it has a sandbox of one of these running emulators.
 */
export const exec: RunCommand = async (terminal, flags, _, command) => {
  const place = placeOf(terminal.env);
  if (place !== undefined) return runInSandbox(terminal, place, flags, command);
  const settings = parseStartSettings(flags);
  const { port, fixtures = findFixtureFile(), envFile } = settings;
  const report = parseOne(EXEC_FLAGS.report, flags.report);
  if (report !== undefined) await checkReportFolder(report);
  const { err, showStatus } = terminal;
  const output = { say: err, sayLoaded: err, showStatus, ...(flags.log?.value === true && { log: err }) };
  await using server = await listen({ ...settings, port: flags.port ? port : 0, fixtures }, output);
  const variables = connectionVariables(server);
  await using _file = envFile === undefined ? undefined : await writeVariables(envFile, server);
  let exitCode = await runChild(command, { ...terminal.env, ...variables }, terminal.interrupted);
  if (exitCode !== 0 && report !== undefined) {
    // A report that cannot be written does not change the exit code.
    const problem = await writeReport(report, server.mailbox).catch(({ message }: Error) => message);
    terminal.err(`${NAME}: ${problem ?? `The report is in ${report}.`}`);
  }
  // What cannot be written does not hide that the command failed.
  await server.close().catch(({ message }: Error) => {
    terminal.err(`${NAME}: ${message}`);
    exitCode ||= 1;
  });
  return exitCode;
};

async function runInSandbox(terminal: Terminal, place: string, flags: GivenFlags, command: readonly string[]) {
  const { token, ...others } = flags;
  const [other] = Object.values(others);
  if (other) throw new UsageError(`${other.source} is for an emulator that starts; unset it or MAILBOX_URLS.`);
  const at = (value: string) => findEmulator({ url: { value, source: 'MAILBOX_URLS' }, token }).client;
  const created = await at(place).createSandbox({ name: `exec ${quote(command[0])}`.slice(0, 200) });
  const url = urlOfSandbox(place, created, terminal.env);
  const { id, keys, ids } = created;
  const [[handle, inboxKey] = []] = Object.entries(keys.inboxes);
  const [workspaceKey] = Object.values(keys.workspaces);
  const variables = {
    ...serviceVariables(url, [keys.tenant, workspaceKey, inboxKey, ids.inboxes[handle ?? '']]),
    [variableOf('token')]: token && String(token.value),
    [variableOf('sandbox')]: id,
  };
  try {
    return await runChild(command, { ...terminal.env, ...variables }, terminal.interrupted);
  } finally {
    // That it cannot be closed does not hide how the command ended.
    await at(url)
      .closeSandbox({ id })
      .catch(({ message }: Error) => terminal.err(`${NAME}: ${message}`));
  }
}
