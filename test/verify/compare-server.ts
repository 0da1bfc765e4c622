import type { BehaviourOptions } from 'agent-mailbox-mock';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import type { Finding } from '../../src/verify/finding.ts';
import { createServerTarget, sendInProcess, startReceiver } from '../../src/verify/targets.ts';
import { Verifier, type VerifierOptions } from '../../src/verify/verifier.ts';
import type { Target } from '../../src/verify/verify-session.ts';

/** Compares a server with emulators. `send` takes the place of the function that sends a request to the server. */
export async function compareServer(
  server: MailboxServer,
  { send, signal, ...target }: Partial<Target> & { readonly signal?: AbortSignal } = {},
  options: VerifierOptions = {},
) {
  const { keys } = server.mailbox as never as {
    keys: Record<'acme' | 'globex', { tenant: string }> & { operator: string };
  };
  const receiver = await startReceiver(0);
  try {
    const compared = await createServerTarget({
      baseUrl: server.url,
      key: keys.acme.tenant,
      secondKey: keys.globex.tenant,
      operatorKey: keys.operator,
      createReceiver: receiver.forServer,
      signal: signal ?? new AbortController().signal,
    });
    const tested = { ...compared, advance: undefined, ...target, ...(send && { send }) };
    return await new Verifier(tested, receiver, options).run();
  } finally {
    receiver.close();
  }
}

/** Starts an emulator with some values, and compares it with emulators that have the defaults. */
export async function compareEmulator(behaviours: BehaviourOptions = {}) {
  await using server = await startServer({ port: 0, behaviours });
  return await compareServer(server, { send: sendInProcess(server.mailbox) });
}

/** The findings with a verdict, as `id: what was found`. */
export function linesWith(findings: readonly Finding[], verdict: Finding['verdict']): string[] {
  return findings.filter((finding) => finding.verdict === verdict).map(({ id, found }) => `${id}: ${found}`);
}
