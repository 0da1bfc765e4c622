import { domainReplies } from './operations/domains.ts';
import { draftReplies } from './operations/drafts.ts';
import { inboxReplies, otherInboxReplies } from './operations/inboxes.ts';
import { keyReplies } from './operations/keys.ts';
import { listReplies } from './operations/lists.ts';
import { messageReplies } from './operations/messages.ts';
import { sendReplies } from './operations/sending.ts';
import { serviceReplies } from './operations/service.ts';
import { tenantReplies } from './operations/tenants.ts';
import { threadReplies } from './operations/threads.ts';
import { webhookReplies } from './operations/webhooks.ts';
import { workspaceReplies } from './operations/workspaces.ts';

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
