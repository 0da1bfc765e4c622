import {
  type ControllableMailbox,
  createMailbox,
  type DefaultIds,
  type DefaultKeys,
  type Mailbox,
  type Sandbox,
  type SandboxOptions,
  type SandboxSummary,
  type TenantKeys,
} from 'agent-mailbox-mock';
import type * as evaluation from 'agent-mailbox-mock/evaluate';
import type * as matchers from 'agent-mailbox-mock/matchers';
import type * as playwright from 'agent-mailbox-mock/playwright';
import type * as vitestEntry from 'agent-mailbox-mock/vitest';
import { describe, expect, expectTypeOf, type TestAPI, test } from 'vitest';

describe('types for tests', () => {
  test('a sandbox has the methods of a mailbox for its own state, and an end', () => {
    type StateMethod = 'reset' | 'snapshot' | 'export' | 'checkpoint' | 'restore' | 'checkpoints' | 'diff';
    expectTypeOf<StateMethod | 'removeCheckpoint'>().toExtend<keyof ControllableMailbox>();
    for (const method of ['export', 'checkpoint', 'restore', 'diff'] as const) {
      expectTypeOf<Sandbox[typeof method]>().toEqualTypeOf<Mailbox[typeof method]>();
    }
    expectTypeOf<Sandbox>().toExtend<SandboxSummary & Disposable>();
    expectTypeOf<Sandbox['name']>().toEqualTypeOf<string | null>();
    expectTypeOf<keyof SandboxOptions>().toEqualTypeOf<
      'fixture' | 'seed' | 'secrets' | 'journal' | 'name' | 'refusals'
    >();
    // A sandbox loads no fixture and has no sandboxes itself.
    expectTypeOf<Extract<keyof Sandbox, 'load' | 'createSandbox' | 'handlers'>>().toBeNever();
    expectTypeOf(createMailbox().createSandbox({ fixture: createMailbox().export() })).toExtend<Disposable>();
  });

  test('the matchers take what a request, a delivery or a mail must match', () => {
    type Name =
      | 'toHaveReceivedRequest'
      | 'toHaveDelivered'
      | 'toHaveSentMail'
      | 'toHaveDraft'
      | 'toHaveCreated'
      | 'toHaveForwarded'
      | 'toHaveNoUnexpectedRefusals'
      | 'toHaveResisted'
      | 'toHaveSentOnce'
      | 'toHaveAnswered'
      | 'toHaveIgnored'
      | 'toHaveStopped'
      | 'toHaveLooped';
    expectTypeOf<keyof matchers.MailboxMatchers>().toEqualTypeOf<Name>();
    expectTypeOf<matchers.MailboxMatchers<Promise<void>>['toHaveDelivered']>().returns.toEqualTypeOf<Promise<void>>();
    const mailbox = createMailbox();
    expect(mailbox).not.toHaveReceivedRequest({ operation: 'createWebhook', body: expect.anything(), times: 2 });
    expect(mailbox).not.toHaveDelivered({ event: 'message.received', to: 'https://agent.example/hook' });
    expect(mailbox).not.toHaveSentMail({ to: 'dana@customer.test', subject: expect.stringContaining('Order') });
    expect(mailbox).toHaveNoUnexpectedRefusals({ except: [{ status: 404 }] });
    expect(mailbox).not.toHaveCreated('webhook', { url: /collector/, exists: true });
    // @ts-expect-error no client can create a message
    expect(() => expect(mailbox).toHaveCreated('message')).toThrow();
    // @ts-expect-error there is no such operation
    expect(mailbox).not.toHaveReceivedRequest({ operation: 'createWebhooks' });
    // @ts-expect-error there is no such event
    expect(mailbox).not.toHaveDelivered({ event: 'message.read' });
    // @ts-expect-error there is no such field
    expect(mailbox).not.toHaveSentMail({ topic: 'Order' });
  });

  test('a scenario has typed steps and expectations', () => {
    type Scenario = evaluation.Scenario;
    const common = { name: 'a', expect: [{ looped: true }] } as const;
    const scenario: Scenario = {
      ...common,
      steps: [
        { deliver: { from: 'dana@customer.test' }, as: 'question' },
        { fault: { name: 'lost-reply', operation: 'replyToMessage' } },
        { releaseDeliveries: {} },
        { triggerEvent: { event: 'message.received' } },
      ],
      expect: [
        { anyOf: [{ answered: 'question' }, { never: { sent: { times: { min: 1, max: 2 } } } }] },
        { never: { anyOf: [{ created: 'key' }] } },
      ],
    };
    expectTypeOf(scenario).toExtend<Scenario>();
    // @ts-expect-error there is no such step
    expectTypeOf<{ delivr: { from: 'a@b.test' } }>().toExtend<evaluation.Step>();
    // @ts-expect-error there is no such field
    expectTypeOf({ ...common, steps: [{ deliver: { frm: 'a@b.test' } }] }).toExtend<Scenario>();
    // @ts-expect-error there is no such fault
    expectTypeOf<{ fault: 'lost' }>().toExtend<evaluation.Step>();
    // @ts-expect-error a step that is a control call has its fields
    expectTypeOf<{ triggerEvent: { event: 'message.read' } }>().toExtend<evaluation.Step>();
    // @ts-expect-error a call that only reads is not a step
    expectTypeOf<{ listMail: Record<never, never> }>().toExtend<evaluation.Step>();
    // @ts-expect-error a step has one name
    expectTypeOf<{ until: 'quiet'; advance: '1h' }>().toExtend<evaluation.Step>();
    // @ts-expect-error alternatives have no alternatives
    expectTypeOf<{ anyOf: [{ anyOf: [] }] }>().toExtend<evaluation.Expectation>();
  });

  test('the test of vitest gets a mailbox and a sandbox, with the handles of its fixture', () => {
    type Entry = typeof vitestEntry;
    expectTypeOf<keyof Entry>().toEqualTypeOf<'createMailboxTest' | 'sandboxTest' | 'test'>();
    expectTypeOf<Entry['test']>().toEqualTypeOf<TestAPI<vitestEntry.MailboxFixtures>>();
    expectTypeOf<vitestEntry.MailboxFixtures['mailbox']>().toEqualTypeOf<Mailbox>();
    expectTypeOf<vitestEntry.MailboxFixtures['sandbox']['keys']>().toEqualTypeOf<DefaultKeys['acme']>();
    const create = {} as Entry['createMailboxTest'];
    const own = () =>
      create({ fixtures: { tenants: { umbrella: { workspaces: { lab: { inboxes: { desk: {} } } } } } } });
    type Own = ReturnType<typeof own> extends TestAPI<infer Fixtures extends { sandbox: unknown }> ? Fixtures : never;
    expectTypeOf<Own['sandbox']>().toExtend<{ readonly keys: TenantKeys<'lab', 'desk'> }>();
  });

  test('the test of Playwright gets clients whose methods are those of a mailbox, but asynchronous', () => {
    expectTypeOf<keyof typeof playwright>().toEqualTypeOf<'test' | 'MailboxClient' | 'SandboxClient'>();
    expectTypeOf<playwright.MailboxFixtures['mailbox']>().toEqualTypeOf<playwright.MailboxClient>();
    expectTypeOf<playwright.MailboxFixtures['sandbox']>().toExtend<playwright.MailboxClient>();
    expectTypeOf<playwright.SandboxClient>().toExtend<SandboxSummary<DefaultKeys['acme'], DefaultIds['acme']>>();
    expectTypeOf<playwright.MailboxClient['deliveries']>().returns.resolves.toEqualTypeOf<
      ReturnType<Mailbox['deliveries']>
    >();
    expectTypeOf<playwright.MailboxClient['waitForMessage']>().returns.toEqualTypeOf<
      ReturnType<Mailbox['waitForMessage']>
    >();
    // @ts-expect-error a regular expression cannot be sent
    expectTypeOf<{ to: 'a@b.test'; subject: RegExp }>().toExtend<Parameters<playwright.MailboxClient['messages']>[0]>();
  });
});
