import type { AssumptionId } from '../contract/behaviours.ts';
import type { OperationId } from '../contract/operations.ts';
import type { Aspect } from './recording.ts';

/**
 * The assumptions that need no experiment, because the comparison of all operations checks them: each with the
 * statements that differ if the server does something else.
 */
export const TOLD_BY_OPERATIONS: { readonly [Id in AssumptionId]?: readonly `${OperationId}: ${Aspect}`[] } = {
  'tenants.create.reply': ['createTenant: reply'],
  'webhooks.other-tiers': [
    'createWebhook: tiers',
    'listWebhooks: items',
    'getWebhook: items',
    'updateWebhook: tiers',
    'deleteWebhook: tiers',
  ],
  'webhooks.create.workspace': ['createWebhook: reply', 'listWebhooks: items'],
  'webhooks.list.pages': ['listWebhooks: items'],
  'inboxes.rotate.status': ['rotateInboxKey: reply'],
  'workspaces.keys.create.reply': ['createWorkspaceKey: reply'],
  'workspaces.keys.list.reply': ['listWorkspaceKeys: items'],
  'workspaces.shape': ['createWorkspace: reply', 'listWorkspaces: items', 'getWorkspace: items'],
  'workspaces.list.order': ['listWorkspaces: items'],
  'domains.list.order': ['listDomains: items'],
  'inboxes.list.order': ['listInboxes: items'],
  'inboxes.update.reply': ['updateInbox: reply'],
  'inboxes.addresses.create.reply': ['addInboxAddress: reply'],
  'messages.folders': ['countFolders: items', 'updateMessage: effect'],
  'messages.attachments.shape': ['listAttachments: items'],
  'messages.all.thread-counts': ['listAllMessages: items'],
  'metrics.reply': ['getMetrics: items'],
  'metrics.counts': ['sendMessage: effect', 'deleteMessage: effect'],
  'sending.local': ['sendMessage: effect'],
  'sending.reply.recipients': ['replyToMessage: effect', 'replyAllToMessage: effect'],
  'sending.reply.subject': ['replyToMessage: effect', 'forwardMessage: effect'],
  'threads.shape': ['getThread: items'],
  'threads.list': ['listThreads: items'],
  'threads.inbound': ['replyToMessage: effect'],
  'threads.outbound': ['replyToMessage: reply', 'forwardMessage: reply'],
  'drafts.shape': ['createDraft: reply', 'listDrafts: items', 'getDraft: items'],
  'drafts.send.reply': ['sendDraft: reply'],
  'lists.shape': ['createList: reply', 'getList: items', 'createListEntry: reply'],
  'lists.list.reply': ['listLists: items', 'listListEntries: items'],
  'me.reply': ['getMe: items'],
  'verify.reply': ['verifyEmail: reply'],
  'verify.tiers': ['verifyEmail: tiers'],
};
