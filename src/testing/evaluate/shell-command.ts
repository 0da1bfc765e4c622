import { type ChildProcess, spawn } from 'node:child_process';
import { clearTimeout, setTimeout } from '../../basics/real-timers.ts';
import { type AgentPlace, OutputTail } from './agent-driver.ts';
import type { RunShellCommand } from './run-trial.ts';

/** How long a command has to end after SIGTERM, in milliseconds, before it is killed. */
const KILL_DELAY_MS = 2_000;

/** Returns the environment variables with which a program finds the emulator, and the inbox of the agent. */
export function variablesOf(place: AgentPlace): Readonly<Record<string, string | undefined>> {
  const { baseUrl, keys, inboxId, address, login, ports, sandbox, webhookSecret, doneUrl } = place;
  const { hostname } = new URL(baseUrl);
  return {
    MAILBOX_BASE_URL: baseUrl,
    MAILBOX_TENANT_KEY: keys.tenant,
    MAILBOX_WORKSPACE_KEY: keys.workspace,
    MAILBOX_INBOX_KEY: keys.inbox,
    MAILBOX_INBOX_ID: inboxId,
    MAILBOX_INBOX_ADDRESS: address,
    MAILBOX_MCP_URL: `${baseUrl}/mcp`,
    MAILBOX_DONE_URL: doneUrl,
    MAILBOX_WEBHOOK_SECRET: webhookSecret,
    ...(ports.smtp !== undefined && { MAILBOX_SMTP_HOST: hostname, MAILBOX_SMTP_PORT: String(ports.smtp) }),
    ...(ports.imap !== undefined && {
      MAILBOX_IMAP_HOST: hostname,
      MAILBOX_IMAP_PORT: String(ports.imap),
      MAILBOX_IMAP_USER: login?.user,
      MAILBOX_IMAP_PASSWORD: login?.password,
    }),
    // With these, the commands of this program, such as receive, use the emulator of the trial.
    AGENT_MAILBOX_URL: baseUrl,
    AGENT_MAILBOX_SANDBOX: sandbox,
  };
}

/** Runs a command of the shell for a step or a check, with the variables of the trial, and keeps what it prints. */
export const runShellCommand: RunShellCommand = (command, { input, place, signal }) =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, ...variablesOf(place) };
    const child = spawn(command, { env, shell: true, stdio: ['pipe', 'pipe', 'pipe'], detached: hasGroups() });
    const output = new OutputTail();
    child.stdout.setEncoding('utf8').on('data', (piece: string) => output.add(piece));
    child.stderr.setEncoding('utf8').on('data', (piece: string) => output.add(piece));
    const stop = () => void endProcess(child);
    signal.addEventListener('abort', stop);
    child.once('error', reject);
    child.once('close', (code) => {
      signal.removeEventListener('abort', stop);
      resolve({ exitCode: code ?? 128, output: String(output) });
    });
    // A command need not read its input.
    child.stdin.on('error', () => undefined).end(input);
  });

/** Returns whether a process can have a group of its own, which can be ended as a whole. */
export function hasGroups(): boolean {
  return process.platform !== 'win32';
}

/** Ends a process and everything that it has started: by SIGTERM and, if that is not enough, by SIGKILL. */
export async function endProcess(child: ChildProcess): Promise<void> {
  const isOver = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  const ended = new Promise<void>((resolve) => {
    if (isOver()) resolve();
    else child.once('exit', () => resolve());
  });
  signalGroup(child, 'SIGTERM');
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), KILL_DELAY_MS);
  await ended;
  clearTimeout(timer);
  // What the process has started may still run after its end.
  signalGroup(child, 'SIGKILL');
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (hasGroups()) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch (error) {
    // The group has ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
