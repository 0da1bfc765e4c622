import type { ControlClient, ReplyTo } from '../../../control/table/client.ts';

/** A draft with everything that is known about it. */
export type Draft = ReplyTo<'listDrafts'>['drafts'][number];

/** What a person can change in a draft, as the form has it: addresses are separated by commas. */
export type DraftFields = Readonly<Record<'to' | 'cc' | 'bcc' | 'subject' | 'plainBody' | 'htmlBody', string>>;

/** Returns what the form of a draft starts with. */
export function fieldsOf({ to, cc, bcc, subject, plainBody, htmlBody }: Draft): DraftFields {
  const addresses = { to: to.join(', '), cc: cc.join(', '), bcc: bcc.join(', ') };
  // A field of a page has only line feeds.
  const [text, html] = [plainBody, htmlBody].map((body) => body?.replaceAll('\r\n', '\n') ?? '');
  return { ...addresses, subject: subject ?? '', plainBody: text ?? '', htmlBody: html ?? '' };
}

/** Saves what was changed in a draft, as a client with the key of its inbox does. */
export async function saveDraft(client: ControlClient, draft: Draft, fields: DraftFields): Promise<void> {
  const before = fieldsOf(draft);
  // What is sent replaces even what a form cannot show, such as the files of a draft that came by IMAP.
  const changed = Object.entries(fields).filter(([name, value]) => value !== before[name as keyof DraftFields]);
  if (changed.length === 0) return;
  const body = Object.fromEntries(changed.map(([name, value]) => [name, value === '' ? null : value]));
  await callService(client, draft, 'PATCH', '', body);
}

/** Sends a draft, as a client with the key of its inbox does, and resolves with the id of the sent mail. */
export async function sendDraft(client: ControlClient, draft: Draft): Promise<string | undefined> {
  await callService(client, draft, 'POST', '/send');
  const { messages } = await client.searchMail({ inbox: draft.inboxId, folder: 'sent', limit: 1 });
  return messages[0]?.id;
}

/** Calls an operation on a draft, with all that tests do to requests. @throws what the service replies, as it is. */
async function callService(
  client: ControlClient,
  { id, inboxId, tenantId }: Draft,
  method: string,
  path: string,
  body?: object,
): Promise<void> {
  const { keys } = await client.listKeys({ tenant: tenantId });
  const able = keys.filter(({ inboxes }) => inboxes.includes(inboxId));
  const key = able.find(({ tier }) => tier === 'inbox') ?? able[0];
  const response = await fetch(`/v1/inboxes/${inboxId}/drafts/${id}${path}`, {
    method,
    headers: { 'X-API-Key': key?.text ?? '', 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) return;
  const { code, error } = (await response.json().catch(() => ({}))) as { code?: string; error?: string };
  throw new Error([response.status, code, error].filter(Boolean).join(' '));
}
