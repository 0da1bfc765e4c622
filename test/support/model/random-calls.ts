import type { Mailbox } from 'agent-mailbox-mock';
import fc from 'fast-check';
import type { Reply } from '../everywhere.ts';
import { senderTo } from '../send.ts';
import { COMMANDS } from './commands.ts';
import { readTree } from './tree.ts';
import { Turn } from './turn.ts';

/** One command of the model, with the numbers by which it chooses. */
interface RandomCall {
  readonly name: string;
  readonly chances: readonly number[];
}

/** Any sequence of commands of the model, without a reset. */
export const randomCalls: fc.Arbitrary<RandomCall[]> = fc.array(
  fc.record({
    name: fc.constantFrom(...Object.keys(COMMANDS).filter((name) => name !== 'reset')),
    chances: fc.array(fc.nat({ max: 1000 }), { minLength: 16, maxLength: 16 }),
  }),
  { minLength: 1, maxLength: 60, size: 'max' },
);

/** Runs a sequence against a mailbox, without a network, and returns every reply. */
export async function runCalls(mailbox: Mailbox, calls: readonly RandomCall[]): Promise<Reply[]> {
  const replies: Reply[] = [];
  const sendTo = senderTo(mailbox);
  const send = async (...request: Parameters<typeof sendTo>) => {
    const reply = await sendTo(...request);
    replies.push(reply);
    return reply;
  };
  const tree = readTree(mailbox.snapshot());
  for (const { name, chances } of calls) {
    await COMMANDS[name]?.(new Turn(tree, tree, [], { mailbox, send }, chances));
  }
  return replies;
}
