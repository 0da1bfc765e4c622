import { NAME } from '../../basics/version.ts';
import type { RunCommand } from '../command.ts';
import { findFixtureFile } from '../files.ts';
import { EXEC_FLAGS } from '../flags.ts';
import { connectionVariables } from './connection-variables.ts';
import { checkReportFolder, writeReport } from './report.ts';
import { runChild } from './run-child.ts';
import { listen, writeVariables } from './start.ts';
import { parseOne, parseStartSettings } from './start-settings.ts';

/** Runs another command beside an emulator, and returns the exit code of that command. */
export const exec: RunCommand = async (terminal, flags, _, command) => {
  const settings = parseStartSettings(flags);
  const { port, fixtures = findFixtureFile(), envFile } = settings;
  const report = parseOne(EXEC_FLAGS.report, flags.report);
  if (report !== undefined) await checkReportFolder(report);
  const log = flags.log?.value === true ? { log: terminal.err } : {};
  await using server = await listen(
    { ...settings, port: flags.port ? port : 0, fixtures },
    { say: terminal.err, ...log },
  );
  const variables = connectionVariables(server);
  await using _file = envFile === undefined ? undefined : await writeVariables(envFile, server);
  let exitCode = await runChild(command, { ...terminal.env, ...variables }, terminal.interrupted);
  if (exitCode !== 0 && report !== undefined) {
    // A report that cannot be written does not change the exit code.
    const outcome = writeReport(report, server.mailbox).then(
      () => `The report is in ${report}.`,
      (error: Error) => error.message,
    );
    terminal.err(`${NAME}: ${await outcome}`);
  }
  // What cannot be written does not hide that the command failed.
  await server.close().catch(({ message }: Error) => {
    terminal.err(`${NAME}: ${message}`);
    exitCode ||= 1;
  });
  return exitCode;
};
