/** What a group of operations is about, and the parts of a path that put an operation there. */
interface Tag {
  readonly name: string;
  readonly description: string;
  readonly segments: readonly string[];
}

/** The groups, widest first: an operation belongs to the last that has a part of its path. */
export const TAGS: readonly Tag[] = [
  {
    name: 'Service',
    description: 'The service itself, and who a key speaks for.',
    segments: ['health', 'me', 'metrics', 'verify-email'],
  },
  { name: 'Tenants', description: 'The customers of the platform; each is a world of its own.', segments: ['tenants'] },
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
  { name: 'Webhooks', description: 'Who is notified when something happens.', segments: ['webhooks'] },
];

/** The group of a path. A resource that has none gets its own name, which the linter then refuses as undeclared. */
export function tagOf(path: string): string {
  const parts = path.split('/');
  return TAGS.findLast(({ segments }) => segments.some((segment) => parts.includes(segment)))?.name ?? path;
}
