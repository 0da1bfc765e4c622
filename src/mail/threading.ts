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
  const candidates = [...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()];
  return candidates
    .flatMap((messageId) => world.messages.by('messageIdHeader', messageId).toReversed())
    .find((message) => message.inboxId === inboxId)?.threadId;
}
