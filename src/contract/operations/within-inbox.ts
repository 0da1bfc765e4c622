import { INBOX_TIERS } from '../tiers.ts';

/** What the operations within an inbox share: section 5 of the service document names them, with who may call them. */
export const withinInbox = { section: '5', tiers: () => INBOX_TIERS } as const;
