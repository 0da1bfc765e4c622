import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { isPlainObject } from '../basics/objects.ts';
import type { ParsedScenario } from './parse-scenarios.ts';

/** A part of the scenarios of a run, which one of several machines runs. */
export interface Shard {
  /** Which part, from 1. */
  readonly index: number;
  /** How many parts there are. */
  readonly count: number;
}

/** How a report came about: what is needed to run it again, and to know whether another can be compared with it. */
export interface Provenance {
  /** The commit of the working folder; null if it is in no repository of git. */
  readonly git: GitState | null;
  /** The version of Node.js, such as `v24.1.0`. */
  readonly node: string;
  /** The operating system and the processor, such as `linux x64`. */
  readonly platform: string;
  /** How often each scenario was to be run with each agent. */
  readonly repeat: number;
  /** The share that was required of each scenario that does not say it itself. */
  readonly require: number;
  /** The longest real time of a trial whose scenario has no limit, in milliseconds. */
  readonly timeoutMs: number;
  /** How long nothing had to come from an agent until it counted as quiet, in milliseconds. */
  readonly quietMs: number;
  /** Whether each agent was started once for all its trials, one after the other. */
  readonly isShared: boolean;
  /** The hash of the fixture; null for the default fixture. */
  readonly fixtures: string | null;
  /** The scenarios that were chosen, before they were divided into shards. */
  readonly suite: {
    /** How many, without their twins. */
    readonly scenarios: number;
    /** The hash of their names, their hashes and what each requires. */
    readonly hash: string;
  };
  /** Which part of the suite was run; null if all of it was. */
  readonly shard: Shard | null;
}

/** What git says of a working folder. */
export interface GitState {
  /** The hash of the commit. */
  readonly commit: string;
  /** Whether no file that git knows differed from the commit. Files that git does not know do not count. */
  readonly isClean: boolean;
}

/** How long git may take, in milliseconds. */
const GIT_MS = 10_000;

/** Reads the commit of the working folder, and whether it is clean; null without git or a commit. */
export async function readGitState(): Promise<GitState | null> {
  const run = (...args: string[]): Promise<string | undefined> =>
    new Promise((resolve) => {
      const options = {
        cwd: process.cwd(),
        timeout: GIT_MS,
        maxBuffer: 64 * 1024 * 1024,
        env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' },
      };
      execFile('git', args, options, (error, stdout) => resolve(error ? undefined : stdout.trim()));
    });
  const [commit, changed] = await Promise.all([
    run('rev-parse', '--verify', 'HEAD'),
    // A report that is being written into the folder must not make it unclean.
    run('status', '--porcelain', '--untracked-files=no'),
  ]);
  return commit && changed !== undefined ? { commit, isClean: changed === '' } : null;
}

/** Returns the hash of what a scenario asks of an agent. Its name, description, place, tags and gate do not count. */
export function hashScenario(scenario: ParsedScenario): string {
  const { agent, clock, behaviours, mail, steps, expect, limits } = scenario;
  return hashValue({ agent, clock, behaviours, mail, steps, expect, limits });
}

/** Returns the hash of several scenarios with their twins, in their order. */
export function hashSuite(scenarios: readonly ParsedScenario[]): string {
  return hashValue(
    scenarios.map((scenario) => {
      const { name, require = null, twin } = scenario;
      return [name, require, hashScenario(scenario), twin ? hashScenario(twin) : null];
    }),
  );
}

/** Returns the SHA-256 of a value, in hexadecimal digits. The order of the fields of an object does not count. */
export function hashValue(value: unknown): string {
  const json = JSON.stringify(value, (_, part: unknown) => {
    if (part instanceof RegExp || typeof part === 'function') return String(part);
    if (!isPlainObject(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
  return createHash('sha256').update(String(json)).digest('hex');
}
