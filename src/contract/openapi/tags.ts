/** The groups of operations, most general first: a description, and the segments of paths that belong to the group. */
const GROUPS: Readonly<Record<string, readonly [description: string, ...segments: string[]]>> = {
  Service: ['The service itself, and the scope of a key.', 'health', 'me', 'metrics', 'verify-email'],
  Tenants: ['The customers of the platform; they share no data.', 'tenants'],
  Workspaces: ['The groups of inboxes of a tenant.', 'workspaces'],
  Inboxes: ['The addresses of agents.', 'inboxes'],
  Domains: ['The domains under which inboxes get their addresses.', 'domains'],
  Messages: ['Reading, marking and sending mail.', 'messages', 'send', 'reply', 'reply-all', 'forward'],
  Threads: ['Conversations.', 'threads'],
  Drafts: ['Mail that is not sent yet.', 'drafts'],
  Lists: ['Lists of contacts.', 'lists'],
  Keys: ['The API keys of workspaces and inboxes.', 'keys'],
  Webhooks: ['URLs that are notified of events.', 'webhooks'],
};

/** The groups, as an OpenAPI document lists them. */
export const TAGS = Object.entries(GROUPS).map(([name, [description]]) => ({ name, description }));

/**
 * Returns the group of a path: the last group that lists a segment of the path. For a path without a group it returns
 * the path, which the OpenAPI linter refuses.
 */
export function tagOf(path: string): string {
  const parts = path.split('/');
  return (
    Object.keys(GROUPS).findLast((name) => GROUPS[name]?.slice(1).some((segment) => parts.includes(segment))) ?? path
  );
}
