import { isPart, type Part } from '../../fixture/part.ts';

/** An inbox of a fixture that was not checked yet, with its handles. */
export interface InboxPart {
  readonly path: readonly string[];
  readonly inbox: Record<string, unknown>;
}

/** Lists the inboxes of a fixture that was not checked yet; what is not as it should be is left out. */
export function listInboxes(fixture: unknown): InboxPart[] {
  return ['tenants', 'workspaces', 'inboxes'].reduce<InboxPart[]>(
    (parts, field) =>
      parts.flatMap(({ path, inbox: part }) => {
        const children = part[field];
        if (!isPart(children)) return [];
        return Object.entries(children).flatMap(([name, child]) =>
          isPart(child) ? [{ path: [...path, field, name], inbox: child }] : [],
        );
      }),
    isPart(fixture) ? [{ path: [], inbox: fixture }] : [],
  );
}

/** Returns whether a message of a fixture is the path of a mail file. */
export function isMailFile(message: unknown): message is Part & { readonly eml: string } {
  return isPart(message) && typeof message.eml === 'string';
}

/** Returns the messages of an inbox that was not checked yet. */
export function messagesOf({ messages }: Part): readonly unknown[] {
  return Array.isArray(messages) ? messages : [];
}

/** Returns whether any message of a fixture is the path of a mail file. */
export function hasMailFiles(fixture: unknown): boolean {
  return listInboxes(fixture).some(({ inbox }) => messagesOf(inbox).some(isMailFile));
}
