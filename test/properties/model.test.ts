import type { MailboxState } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { COMMANDS } from '../support/model/commands.ts';
import { expectCountsToAgree } from '../support/model/counts.ts';
import { expectSoundState } from '../support/model/references.ts';
import { readTree, type Tree } from '../support/model/tree.ts';
import { Turn } from '../support/model/turn.ts';

interceptRequests();

/** What the mailbox must be like, the start to which a reset leads back, and the calls so far. */
interface Model {
  readonly tree: Tree;
  readonly start: Tree;
  readonly journal: string[];
}

class Command implements fc.AsyncCommand<Model, Service> {
  constructor(
    readonly name: string,
    readonly chances: readonly number[],
  ) {}

  check(): boolean {
    return true;
  }

  async run({ tree, start, journal }: Model, service: Service): Promise<void> {
    const turn = new Turn(tree, start, journal, service, this.chances);
    try {
      await COMMANDS[this.name]?.(turn);
      expectEqual(readTree(turn.state).lines(), tree.lines());
      expectSoundState(turn.state);
    } catch (error) {
      throw new Error(`${this.name} went wrong, after these calls:\n${journal.join('\n')}`, { cause: error });
    }
  }

  toString(): string {
    return this.name;
  }
}

const commands = fc.commands(
  Object.keys(COMMANDS).map((name) =>
    fc.array(fc.nat({ max: 1000 }), { minLength: 16, maxLength: 16 }).map((chances) => new Command(name, chances)),
  ),
  { maxCommands: 120, size: 'max' },
);

describe('any sequence of calls', () => {
  everywhere(
    'leaves a state without a dangling reference, counts that agree, and nothing after a reset',
    // The model knows no mail that the emulator writes itself.
    { behaviours: { 'sending.bounce.report': 'none' } },
    async (service) => {
      const { mailbox, url } = service;
      const start = mailbox.snapshot();
      await fc.assert(
        fc
          .asyncProperty(commands, async (sequence) => {
            const model = { tree: readTree(start), start: readTree(start), journal: [] };
            await fc.asyncModelRun(() => ({ model, real: service }), sequence);
            await expectCountsToAgree(service);
            const made = keysOf(mailbox.snapshot()).filter((key) => !keysOf(start).includes(key));
            mailbox.reset();
            expectEqual(mailbox.snapshot(), start);
            for (const key of made) expect((await service.send('GET', '/v1/me', { key })).status).toBe(401);
          })
          .beforeEach(() => mailbox.reset()),
        { numRuns: url === mailbox.baseUrl ? 20 : 6 },
      );
    },
  );
});

function keysOf({ tenants }: MailboxState): string[] {
  return tenants.flatMap(({ apiKeys }) => apiKeys.map(({ key }) => key));
}
