import type { Mailbox } from 'agent-mailbox-mock';
import { OperationSequence } from '../../src/verify/operation-sequence.ts';
import { Recording } from '../../src/verify/recording.ts';
import { type Target, VerifySession } from '../../src/verify/verify-session.ts';
import { type Break, INTACT, sendThrough } from './broken-servers.ts';

/** Runs the sequence of operations on a mailbox whose replies are changed. */
export async function recordSequence(
  mailbox: Mailbox,
  broken: Break = INTACT,
  { runId = 'samerun1', ...target }: Partial<Target> & { readonly runId?: string } = {},
) {
  const { acme, globex } = mailbox.keys as unknown as Record<'acme' | 'globex', { tenant: string }>;
  const session = new VerifySession(
    {
      // Nothing listens at this port, so that no stream can be opened.
      baseUrl: 'http://127.0.0.1:9',
      key: acme.tenant,
      secondKey: globex.tenant,
      operatorKey: mailbox.keys.operator,
      send: sendThrough(mailbox, broken, { tenant: acme.tenant, otherTenant: globex.tenant }),
      requestTimeoutMs: 2000,
      advance: async () => {},
      deliver: async (mail) => void (await mailbox.receiveMessage(mail as never)),
      ...target,
    },
    runId,
  );
  await session.open();
  const recording = new Recording(session);
  await new OperationSequence(recording).run();
  return recording;
}
