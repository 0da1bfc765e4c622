import type { Mailbox } from 'agent-mailbox-mock';
import { OperationSequence } from '../../src/verify/operation-sequence.ts';
import { type EndedRecording, Recording } from '../../src/verify/recording.ts';
import { type Target, VerifySession } from '../../src/verify/verify-session.ts';
import { type Break, INTACT, sendThrough } from './broken-servers.ts';

/** How a sequence runs on a mailbox, besides the breaks: the fields of its target, and the id of the run. */
type RecordOptions = Partial<Target> & { readonly runId?: string; readonly ended?: EndedRecording };

/** Opens a session with a mailbox whose replies are changed, and returns a recording that has only this. */
export async function createRecording(
  mailbox: Mailbox,
  broken: Break = INTACT,
  { runId = 'samerun1', ended, ...target }: RecordOptions = {},
): Promise<Recording> {
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
  return new Recording(session, ended);
}

/** Runs the sequence of operations on a mailbox whose replies are changed. */
export async function recordSequence(mailbox: Mailbox, broken?: Break, options?: RecordOptions): Promise<Recording> {
  const recording = await createRecording(mailbox, broken, options);
  await new OperationSequence(recording).run();
  return recording;
}
