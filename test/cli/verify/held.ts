import type { BehaviourOptions } from 'agent-mailbox-mock';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { type Finding, Verifier } from '../../../src/cli/commands/verify/run-verify.ts';
import { createRemote, sendInProcess, startReceiver } from '../../../src/cli/commands/verify/targets.ts';
import type { Target } from '../../../src/cli/commands/verify/verify-session.ts';

/** Holds a server against the emulator. `send` stands between them: it can change a request or a reply. */
export async function hold(
  server: MailboxServer,
  { send, signal, ...target }: Partial<Target> & { readonly signal?: AbortSignal } = {},
  tell?: (finding: Finding) => void,
) {
  const { keys } = server.mailbox as never as {
    keys: Record<'acme' | 'globex', { tenant: string }> & { operator: string };
  };
  const receiver = await startReceiver(0);
  try {
    const remote = await createRemote({
      baseUrl: server.url,
      key: keys.acme.tenant,
      secondKey: keys.globex.tenant,
      operatorKey: keys.operator,
      receive: receiver.remote,
      signal: signal ?? new AbortController().signal,
    });
    return await new Verifier({ ...remote, advance: undefined, ...target, ...(send && { send }) }, receiver).run(tell);
  } finally {
    receiver.close();
  }
}

/** Starts an emulator with some values, and holds it against one with the defaults. */
export async function holdEmulator(behaviours: BehaviourOptions = {}) {
  await using server = await startServer({ port: 0, behaviours });
  return await hold(server, { send: sendInProcess(server.mailbox) });
}

/** The findings with a verdict, as `id: what was found`. */
export function linesWith(findings: readonly Finding[], verdict: Finding['verdict']): string[] {
  return findings.filter((finding) => finding.verdict === verdict).map(({ id, found }) => `${id}: ${found}`);
}
