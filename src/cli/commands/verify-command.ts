import { createInterface } from 'node:readline/promises';
import { toPrintable, toPrintableJson } from '../../basics/printable.ts';
import { isUrlWithScheme } from '../../basics/text.ts';
import { NAME } from '../../basics/version.ts';
import type { BehaviourOptions } from '../../contract/behaviours.ts';
import { isKeyOfTier, TIER_PREFIX, type Tier } from '../../contract/tiers.ts';
import { isLoopbackHost } from '../../server/loopback.ts';
import type { Verification } from '../../verify/finding.ts';
import { findingLines, junitOf, summaryLines } from '../../verify/findings-report.ts';
import { HAR_KEY_TIERS, verifyHar } from '../../verify/verify-har.ts';
import { verifyServer } from '../../verify/verify-server.ts';
import { VerifyError } from '../../verify/verify-session.ts';
import {
  CannotRunError,
  type GivenFlags,
  quote,
  type RunCommand,
  readText,
  type Terminal,
  textOfFlag,
  UsageError,
} from '../command.ts';
import { readNamedFile } from '../files.ts';
import { VERIFY_FLAGS } from '../flags.ts';
import { checkOutput, OUTPUT_KINDS, readForce, writeOutput } from '../output-file.ts';
import { formatProfile, readProfile } from '../profile-file.ts';
import { parseOne } from './start-settings.ts';

/**
 * Compares a server with the service document and the list of behaviours. The exit code is 1 if anything differs, and 2
 * if the run ended before everything was compared.
 */
export const verify: RunCommand = async (terminal, flags) => {
  const profileFile = textOfFlag(flags.profile);
  const profile = profileFile === undefined ? undefined : await readProfile(profileFile, terminal.err);
  const behaviours = profile?.behaviours;
  const outputs = {
    junit: readText(flags.junit),
    profile: readText(flags['write-profile']),
  };
  for (const [kind, file] of Object.entries(outputs)) {
    if (file !== undefined) await checkOutput(file, OUTPUT_KINDS[kind as keyof typeof outputs], readForce(flags));
  }
  const har = textOfFlag(flags.har);
  if (har !== undefined) {
    const ignored = OF_RUNNING_SERVER.filter((name) => flags[name] !== undefined).map((name) => `--${name}`);
    if (ignored.length > 0) {
      terminal.err(`${NAME}: with --har a recording is compared, and no server: ${ignored.join(', ')} ignored.`);
    }
  }
  const run = har === undefined ? compareServer(terminal, flags, behaviours) : compareHar(har, flags, behaviours);
  const result = await run.catch((error: unknown) => {
    throw error instanceof VerifyError ? new CannotRunError(error.message) : error;
  });
  const lines = [...result.findings.flatMap(findingLines), ...summaryLines(result)];
  terminal.out(flags.json?.value === true ? toPrintableJson(result) : lines.map(toPrintable).join('\n'));
  if (outputs.junit !== undefined) {
    // It has no mails and no keys, and CI may read it as another user.
    const kind = { ...OUTPUT_KINDS.junit, isPrivate: false };
    await writeOutput(outputs.junit, kind, junitOf(result), readForce(flags));
  }
  if (outputs.profile !== undefined) {
    const at = new Date().toISOString();
    const on = textOfFlag(flags['base-url']) ?? har ?? '';
    const found = Object.fromEntries(Object.keys(result.behaviours).map((id) => [id, { at, on }]));
    const text = formatProfile({ behaviours: result.behaviours, found });
    await writeOutput(outputs.profile, OUTPUT_KINDS.profile, text, readForce(flags));
  }
  return exitCodeOf(result);
};

/** The flags that are about a running server. */
const OF_RUNNING_SERVER = [
  'base-url',
  'api-key',
  'second-key',
  'operator-key',
  'receiver-url',
  'receiver-port',
  'slow',
  'thorough',
  'no-deliveries',
  'rate',
  'timeout',
  'yes',
];

async function compareServer(terminal: Terminal, flags: GivenFlags, profile: BehaviourOptions | undefined) {
  const { isLocal, ...options } = parseSettings(flags);
  if (!isLocal && flags.yes?.value !== true) await confirm(options.baseUrl);
  const controller = new AbortController();
  void terminal.interrupted.then(() => {
    terminal.err(`${NAME}: the run is stopping, and deletes what it has created.`);
    controller.abort();
  });
  const onProgress = (step: string) => terminal.showStatus?.(`Comparing: ${step}`);
  const onSlow = (sentence: string) => terminal.err(`${NAME}: ${sentence}.`);
  const result = await verifyServer({ ...options, profile, signal: controller.signal, onProgress, onSlow });
  terminal.showStatus?.('');
  return result;
}

async function compareHar(file: string, flags: GivenFlags, profile: BehaviourOptions | undefined) {
  const given = textOfFlag(flags['har-key']);
  const keyTier = HAR_KEY_TIERS.find((tier) => tier === given);
  if (given !== undefined && keyTier === undefined) {
    throw new UsageError(`The tier in --har-key must be one of ${HAR_KEY_TIERS.join(', ')}, not ${quote(given)}.`);
  }
  return await verifyHar(String(await readNamedFile(file, 'recording')), { keyTier, profile });
}

function exitCodeOf({ findings, stopped }: Verification): number {
  if (stopped !== undefined) return 2;
  return findings.some(({ verdict }) => verdict === 'differs') ? 1 : 0;
}

function parseSettings(flags: GivenFlags) {
  const baseUrl = textOfFlag(flags['base-url']) ?? '';
  if (!isUrlWithScheme(baseUrl, /^https?$/)) {
    throw new UsageError(
      'The command verify needs --base-url, the URL of the server, such as https://api.example.com, or --har, ' +
        `not ${quote(baseUrl)}.`,
    );
  }
  const key = readKey(flags, 'api-key', 'tenant');
  if (key === undefined) {
    throw new UsageError('The command verify needs --api-key, a tk_ key of a tenant in which verify may create data.');
  }
  const otherTenant = readKey(flags, 'second-key', 'tenant');
  if (otherTenant === key)
    throw new UsageError('The flag --second-key must be a key of another tenant than --api-key.');
  const receiverUrl = textOfFlag(flags['receiver-url']);
  if (receiverUrl !== undefined && !isUrlWithScheme(receiverUrl, /^https?$/)) {
    throw new UsageError(
      `The flag --receiver-url must be a URL such as https://hooks.example.com, not ${quote(receiverUrl)}.`,
    );
  }
  const isLocal = isLoopbackHost(new URL(baseUrl).hostname);
  const timeoutS = parseOne(VERIFY_FLAGS.timeout, flags.timeout);
  return {
    baseUrl,
    isLocal,
    keys: {
      tenant: key,
      otherTenant,
      operator: readKey(flags, 'operator-key', 'operator'),
    },
    receiverUrl,
    receiverPort: parseOne(VERIFY_FLAGS['receiver-port'], flags['receiver-port']) ?? 0,
    rate: parseOne(VERIFY_FLAGS.rate, flags.rate),
    timeoutMs: timeoutS === undefined ? undefined : timeoutS * 1000,
    slow: flags.slow?.value === true,
    thorough: flags.thorough?.value === true,
    noDeliveries: flags['no-deliveries']?.value === true,
  };
}

/** Returns the key in a flag. The error for a wrong key does not show the key. */
function readKey(flags: GivenFlags, name: string, tier: Tier): string | undefined {
  const flag = flags[name];
  const key = textOfFlag(flag);
  if (key === undefined || isKeyOfTier(key, tier)) return key;
  throw new UsageError(`${flag?.source} must be a key that begins with ${TIER_PREFIX[tier]}.`);
}

/** Asks the user whether `verify` may write to a server that is not on this machine. */
async function confirm(baseUrl: string): Promise<void> {
  const { host } = new URL(baseUrl);
  if (!process.stdin.isTTY) {
    throw new UsageError(`The command verify creates and deletes data at ${host}; allow it with --yes.`);
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt.question(`${NAME}: verify creates and deletes data at ${host}. Continue? [y/N] `);
  prompt.close();
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CannotRunError('Nothing was sent.');
}
