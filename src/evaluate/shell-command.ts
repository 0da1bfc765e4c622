import { clearTimeout, setTimeout } from '../basics/real-timers.ts';
import { ProcessTrees } from '../server/process-tree.ts';
import { type AgentAccess, OutputTail } from './agent-driver.ts';
import type { RunShellCommand } from './run-trial.ts';

/** Returns the environment variables with which a program finds the emulator, and the inbox of the agent. */
export function variablesOf(access: AgentAccess): Readonly<Record<string, string | undefined>> {
  const { baseUrl, keys, inboxId, address, login, ports, sandbox, webhookSecret, doneUrl, controlToken } = access;
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
    AGENT_MAILBOX_TOKEN: controlToken,
  };
}

/** How long the output of a command that has ended may still come, in milliseconds. */
const LAST_OUTPUT_MS = 500;

/** Runs a command of the shell for a step or a check, with the variables of the trial, and keeps what it prints. */
export const runShellCommand: RunShellCommand = (command, { input, access, signal }) =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, ...variablesOf(access) };
    const tree = new ProcessTrees().start(command, [], {
      env,
      shell: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    });
    const { child } = tree;
    const output = new OutputTail();
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => output.add(piece));
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => output.add(piece));
    const stop = () => void tree.end();
    signal.addEventListener('abort', stop);
    child.once('error', reject);
    const finish = (code: number | null) => {
      signal.removeEventListener('abort', stop);
      tree.stopFollowing();
      // A process that the command has started may keep its output open.
      for (const stream of child.stdio) stream?.destroy();
      resolve({ exitCode: code ?? 128, output: String(output) });
    };
    child.once('exit', (code) => {
      const timer = setTimeout(() => finish(code), LAST_OUTPUT_MS);
      child.once('close', () => {
        clearTimeout(timer);
        finish(code);
      });
    });
    // A command need not read its input.
    child.stdin?.on('error', () => undefined).end(input);
  });
