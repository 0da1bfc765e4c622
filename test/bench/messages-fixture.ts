import type { FixtureInput } from 'agent-mailbox-mock';

/** The handles of its only tenant, workspace and inbox. */
type Fixture = FixtureInput & { readonly tenants: { readonly big: object } };

/** A fixture with one inbox that has this many messages, each of them with a body of so many characters. */
export function createMessagesFixture(count: number, bodyLength: number): Fixture {
  const messages = Array.from({ length: count }, (_, number) => ({
    from: `Sender ${number % 500} <sender${number % 500}@customer.test>`,
    subject: `Question ${number}`,
    plainBody: `This is question ${number}. `.padEnd(bodyLength, 'Some words to read. '),
  }));
  return { tenants: { big: { workspaces: { main: { inboxes: { desk: { messages } } } } } } };
}
