import type { World } from '../store/world.ts';

/**
 * Finds the thread of an inbox that a mail continues: that of the message in In-Reply-To, else of any in References,
 * the latest first (reference, "Threading of inbound mail"). Mail to oneself is there twice under one Message-ID; the
 * one that arrived counts, because replies are written to that.
 */
export function findThread(
  world: World,
  inboxId: string,
  { inReplyTo, references }: { readonly inReplyTo: string | null; readonly references: readonly string[] },
): string | undefined {
  for (const messageId of [...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()]) {
    const known = world.messages.by('messageIdHeader', messageId).findLast((message) => message.inboxId === inboxId);
    if (known) return known.threadId;
  }
  return undefined;
}
