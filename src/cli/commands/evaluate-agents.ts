import { toPrintableJson } from '../../basics/printable.ts';
import { isUrlWithScheme } from '../../basics/text.ts';
import { NAME } from '../../basics/version.ts';
import { CannotStartError, type CreateAgent, type TrialAgent } from '../../evaluate/agent-driver.ts';
import { splitAgentName } from '../../evaluate/agent-name.ts';
import type { ParsedScenario } from '../../evaluate/parse-scenarios.ts';
import {
  AgentPorts,
  checkAgentListens,
  checkShellCommand,
  hasPlaceholder,
  ProcessAgent,
  RunningAgent,
  StartedAgent,
} from '../../evaluate/process-agent.ts';
import type { RunAgent } from '../../evaluate/run-evaluation.ts';
import { findAccess, type TrialScope } from '../../evaluate/run-trial.ts';
import { ProcessTrees } from '../../server/process-tree.ts';
import {
  CannotRunError,
  type GivenFlags,
  parseEach,
  quote,
  type Terminal,
  textOfFlag,
  UsageError,
} from '../command.ts';

/** An agent as the command line has it: one with a command, or one that runs already. */
export interface GivenAgent {
  /** Its name; undefined for an agent that is alone. */
  readonly name: string | undefined;
  /** The command and its arguments, or one text for the shell. */
  readonly command?: readonly string[] | undefined;
  /** Whether the shell runs the command. */
  readonly isShell?: boolean | undefined;
  /** The URL of the webhook of an agent that runs already. */
  readonly url?: string | undefined;
}

/**
 * Reads the agents: the command after `--`, or those of `--agent` and `--agent-url`. Several need names.
 *
 * @throws {UsageError}
 */
export function readAgents(flags: GivenFlags, command: readonly string[], paths: readonly string[]): GivenAgent[] {
  const byCommand = parseEach(flags.agent, (text, source): GivenAgent & { text: string } => {
    const { name, value } = splitAgentName(text);
    // What is only variables is no command.
    if (value.replaceAll(/(?:^|\s)\w+=\S*/g, '').trim() === '') {
      const example = `${source} ${name ?? 'rules'}="node agent.js"`;
      throw new UsageError(`${source} must have a command, as in ${example}, not ${quote(text)}.`);
    }
    return { name, command: [value], isShell: true, text };
  });
  const byUrl = parseEach(flags['agent-url'], (text, source): GivenAgent & { text: string } => {
    const { name, value } = splitAgentName(text);
    if (!isUrlWithScheme(value.replace(/[{}]/g, ''), /^https?$/)) {
      throw new UsageError(`${source} must be the URL of the agent's webhook, not ${quote(value)}.`);
    }
    return { name, url: value, text };
  });
  const given = [...byCommand, ...byUrl];
  if (given.length === 0 && command.length === 0) {
    throw new UsageError(
      'The command evaluate needs the command that starts the agent, after -- or by --agent, or --agent-url; for ' +
        `example: npx ${NAME} evaluate ${paths[0]} -- node agent.js.`,
    );
  }
  if (command.length > 0) {
    const source = flags.agent?.source ?? flags['agent-url']?.source;
    if (given.length === 0) return [{ name: undefined, command }];
    throw new UsageError(`The command evaluate takes either ${source} or a command after --, but got both.`);
  }
  const names = new Set<string>();
  for (const { name, text } of given) {
    if (given.length > 1 && name === undefined) {
      throw new UsageError(
        `Each of several agents needs a name with a small letter, as in --agent rules="node rules.js"; ${quote(text)} has none.`,
      );
    }
    // Names are parts of names of files, in which some systems do not tell small letters from others.
    if (name !== undefined && names.has(name.toLowerCase())) {
      throw new UsageError(`Two agents have the name ${name}; give each a name of its own.`);
    }
    names.add((name ?? '').toLowerCase());
  }
  return given.map(({ text: _, ...agent }) => agent);
}

/** Checks, before anything runs, that each agent can be started or runs already. @throws {CannotStartError} */
export async function checkAgents(agents: readonly GivenAgent[], env: NodeJS.ProcessEnv): Promise<void> {
  for (const { name, command: [text = ''] = [], isShell, url } of agents) {
    if (url !== undefined) await checkAgentListens(url);
    if (!isShell) continue;
    await checkShellCommand(text, env).catch((error: CannotStartError) => {
      if (name === undefined || agents.length > 1) throw error;
      // Somebody may have meant a variable of the shell.
      const hint = `if ${name} is a variable, name the agent: --agent agent=${toPrintableJson(`${name}=${text}`)}`;
      throw new CannotStartError(`${error.message.replace(/\.$/, '')}; ${hint}.`);
    });
  }
}

/** Returns what runs the agents: processes, or those that run already. */
export function createRunAgents(
  terminal: Terminal,
  flags: GivenFlags,
  agents: readonly GivenAgent[],
  scenarios: readonly ParsedScenario[],
): RunAgent[] {
  const readyText = textOfFlag(flags.ready);
  const doneText = textOfFlag(flags.done);
  const ports = new AgentPorts();
  const trees = new ProcessTrees();
  const onLeft = (sentence: string) => terminal.err(`${NAME}: ${sentence}`);
  return agents.map(({ name, command = [], isShell, url }): RunAgent => {
    const createAgent: CreateAgent = async ({ agent }) => {
      if (url !== undefined) return new RunningAgent(url);
      const path = agent.told === 'webhook' ? agent.path : undefined;
      const options = { command, isShell, env: terminal.env, path, readyText, doneText, trees, onLeft };
      const port = await ports.take();
      if (agent.told !== 'start') return new ProcessAgent(options, port);
      // Such an agent is ready when it has been started.
      return new StartedAgent(() => new ProcessAgent({ ...options, readyText: undefined }, port));
    };
    return {
      name,
      command: command.length > 0 ? command : undefined,
      url,
      createAgent,
      startShared: (scope) => startShared(scope, scenarios, createAgent),
      keepsSecrets: url !== undefined && !hasPlaceholder(url),
    };
  });
}

/** The exit code if nothing could be run, or not everything. */
export const COULD_NOT_RUN = 2;

/** Starts the agent that serves all trials, with a webhook for all inboxes of its tenant. */
async function startShared(
  scope: TrialScope,
  scenarios: readonly ParsedScenario[],
  createAgent: CreateAgent,
): Promise<TrialAgent> {
  const [scenario] = scenarios;
  if (!scenario) throw new Error('There is no scenario.');
  const { mailbox, ids } = scope;
  const agent = await createAgent(scenario, 0);
  const wanted = scenario.agent.inbox;
  const access = findAccess(scope, wanted);
  if (!access) throw new CannotRunError(`There is no inbox ${wanted}.`, COULD_NOT_RUN);
  const webhookUrl = agent.webhookUrl(access);
  const webhook =
    webhookUrl === undefined ? undefined : await mailbox.addWebhook({ url: webhookUrl, tenant: ids.tenant });
  try {
    const controlToken = scenarios.every((each) => each.agent.control) ? scope.door.token : undefined;
    await agent.start({ ...access, webhookSecret: webhook?.secret, controlToken });
  } catch (error) {
    await agent.stop();
    throw error instanceof CannotRunError ? error : new CannotRunError((error as Error).message, COULD_NOT_RUN);
  }
  return agent;
}
