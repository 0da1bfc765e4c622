/** A group of operations, with the path segments that assign an operation to it. */
interface Tag {
  readonly name: string;
  readonly description: string;
  readonly segments: readonly string[];
}

/** The groups, most general first: an operation belongs to the last one with a segment of its path. */
export const TAGS: readonly Tag[] = [
  {
    name: 'Service',
    description: 'The service itself, and the scope of a key.',
    segments: ['health', 'me', 'metrics', 'verify-email'],
  },
  { name: 'Tenants', description: 'The customers of the platform; they share no data.', segments: ['tenants'] },
  { name: 'Workspaces', description: 'The groups of inboxes of a tenant.', segments: ['workspaces'] },
  { name: 'Inboxes', description: 'The addresses of agents.', segments: ['inboxes'] },
  { name: 'Domains', description: 'The domains under which inboxes get their addresses.', segments: ['domains'] },
  {
    name: 'Messages',
    description: 'Reading, marking and sending mail.',
    segments: ['messages', 'send', 'reply', 'reply-all', 'forward'],
  },
  { name: 'Threads', description: 'Conversations.', segments: ['threads'] },
  { name: 'Drafts', description: 'Mail that is not sent yet.', segments: ['drafts'] },
  { name: 'Lists', description: 'Lists of contacts.', segments: ['lists'] },
  { name: 'Keys', description: 'The API keys of workspaces and inboxes.', segments: ['keys'] },
  { name: 'Webhooks', description: 'URLs that are notified of events.', segments: ['webhooks'] },
];

/** Returns the group of a path. A path without a group returns itself, which the OpenAPI linter refuses. */
export function tagOf(path: string): string {
  const parts = path.split('/');
  return TAGS.findLast(({ segments }) => segments.some((segment) => parts.includes(segment)))?.name ?? path;
}
