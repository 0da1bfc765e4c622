import type { InboxRow, MessageRow } from './rows.ts';
import type { World } from './world.ts';

/** Deletes an inbox: removes its keys, addresses, drafts and lists. Its row and its messages stay. */
export function removeInbox(world: World, { id }: InboxRow, deletedAt: string): void {
  removeContents(world, id);
  world.inboxes.update(id, { deletedAt });
}

/** Removes a workspace with everything in it: inboxes with their mail, domains, webhooks and keys. */
export function removeWorkspace(world: World, workspaceId: string): void {
  for (const { id } of world.inboxes.by('workspaceId', workspaceId)) {
    removeContents(world, id);
    // The latest message is removed first, because an entry at the end of a list is removed the fastest.
    for (const message of world.messages.by('inboxId', id).reverse()) removeMessage(world, message);
    world.inboxes.remove(id);
  }
  for (const { id } of world.domains.by('workspaceId', workspaceId)) world.domains.remove(id);
  for (const { id } of world.webhooks.by('workspaceId', workspaceId)) world.webhooks.remove(id);
  for (const { id } of world.apiKeys.by('ownerId', workspaceId)) world.removeKey(id);
  world.workspaces.remove(workspaceId);
}

/** Removes a message with its attachments. Drafts that answer it stay, but no longer refer to it. */
export function removeMessage(world: World, { id, inboxId }: MessageRow): void {
  for (const attachment of world.attachments.by('messageId', id)) world.attachments.remove(attachment.id);
  for (const draft of world.drafts.by('inboxId', inboxId)) {
    if (draft.replyToMessageId === id) world.drafts.update(draft.id, { replyToMessageId: null });
  }
  world.messages.remove(id);
}

/** Removes a list with its entries. */
export function removeList(world: World, listId: string): void {
  for (const { id } of world.listEntries.by('listId', listId)) world.listEntries.remove(id);
  world.lists.remove(listId);
}

function removeContents(world: World, inboxId: string): void {
  for (const { id } of world.apiKeys.by('ownerId', inboxId)) world.removeKey(id);
  for (const { id } of world.addresses.by('inboxId', inboxId)) world.removeAddress(id);
  for (const { id } of world.drafts.by('inboxId', inboxId)) world.drafts.remove(id);
  for (const { id } of world.lists.by('inboxId', inboxId)) removeList(world, id);
}
