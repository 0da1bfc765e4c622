import { TIERS_WITH_INBOX_ACCESS } from '../tiers.ts';

/** Common fields of the operations within an inbox; section 5 of the service document defines their access. */
export const withinInbox = { section: '5', tiers: () => TIERS_WITH_INBOX_ACCESS } as const;

/** Common fields of those that the reference describes. */
export const withinInboxByReference = { ...withinInbox, origin: 'reference' } as const;
