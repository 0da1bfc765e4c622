import type { OperationId } from '../contract/operations.ts';
import { countFolders, listAllMessages } from './all-messages.ts';
import { getAttachment, listAttachments } from './attachments.ts';
import type { Run } from './context.ts';
import { createInbox } from './create-inbox.ts';
import { createDomain, deleteDomain, getDomain, listDomains, verifyDomain } from './domains.ts';
import { createDraft, deleteDraft, getDraft, listDrafts, updateDraft } from './drafts.ts';
import { addInboxAddress, deleteInbox, deleteInboxAddress, getInbox, listInboxes, updateInbox } from './inboxes.ts';
import { createWorkspaceKey, deleteWorkspaceKey, listWorkspaceKeys, rotateInboxKey } from './keys.ts';
import {
  createList,
  createListEntry,
  deleteList,
  deleteListEntry,
  getList,
  getListEntry,
  listListEntries,
  listLists,
} from './lists.ts';
import { deleteMessage, getMessage, getRawMessage, listMessages, updateMessage } from './messages.ts';
import { getMetrics } from './metrics.ts';
import { sendDraft } from './send-draft.ts';
import { forwardMessage, replyAllToMessage, replyToMessage, sendMessage } from './sending.ts';
import { getHealth, getMe, verifyEmail } from './service.ts';
import { createTenant, deleteTenant } from './tenants.ts';
import { getThread, listThreads } from './threads.ts';
import { createWebhook, deleteWebhook, getWebhook, listWebhooks, updateWebhook } from './webhooks.ts';
import { createWorkspace, deleteWorkspace, getWorkspace, listWorkspaces } from './workspaces.ts';

/** The code of every operation. A table row without code does not compile. */
export const RUN = {
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateInboxKey,
  createWorkspaceKey,
  listWorkspaceKeys,
  deleteWorkspaceKey,
  createTenant,
  deleteTenant,
  createWorkspace,
  listWorkspaces,
  getWorkspace,
  deleteWorkspace,
  createInbox,
  listInboxes,
  getInbox,
  updateInbox,
  deleteInbox,
  addInboxAddress,
  deleteInboxAddress,
  listMessages,
  getMessage,
  updateMessage,
  deleteMessage,
  getRawMessage,
  listAttachments,
  getAttachment,
  listAllMessages,
  countFolders,
  sendMessage,
  replyToMessage,
  replyAllToMessage,
  forwardMessage,
  listThreads,
  getThread,
  createDraft,
  listDrafts,
  getDraft,
  updateDraft,
  deleteDraft,
  sendDraft,
  createList,
  listLists,
  getList,
  deleteList,
  createListEntry,
  listListEntries,
  getListEntry,
  deleteListEntry,
  createDomain,
  listDomains,
  getDomain,
  verifyDomain,
  deleteDomain,
  getMe,
  getMetrics,
  verifyEmail,
  getHealth,
} satisfies { [Id in OperationId]: Run<Id> };
