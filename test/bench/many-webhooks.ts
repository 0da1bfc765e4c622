import type { FixtureInput } from 'agent-mailbox-mock';

/** A tenant with one inbox, all of whose mail these webhooks hear of. */
export function manyWebhooks(urls: readonly string[]): FixtureInput {
  return {
    tenants: {
      bench: {
        workspaces: { main: { inboxes: { desk: { username: 'desk' } } } },
        webhooks: Object.fromEntries(urls.map((url, index) => [`hook-${index}`, { url }])),
      },
    },
  };
}
