import { domainReplies } from './domains.ts';
import { draftReplies } from './drafts.ts';
import { inboxReplies, otherInboxReplies } from './inboxes.ts';
import { keyReplies } from './keys.ts';
import { listReplies } from './lists.ts';
import { messageReplies } from './messages.ts';
import { sendReplies } from './sending.ts';
import { serviceReplies } from './service.ts';
import { tenantReplies } from './tenants.ts';
import { threadReplies } from './threads.ts';
import { webhookReplies } from './webhooks.ts';
import { workspaceReplies } from './workspaces.ts';

/** The body of the successful reply of each operation. */
export const REPLIES = {
  ...webhookReplies,
  ...keyReplies,
  ...tenantReplies,
  ...workspaceReplies,
  ...inboxReplies,
  ...messageReplies,
  ...sendReplies,
  ...threadReplies,
  ...draftReplies,
  ...listReplies,
  ...domainReplies,
  ...serviceReplies,
};

/** The bodies of the second kind of success, of the operations that have one. */
export const OTHER_REPLIES = otherInboxReplies;
