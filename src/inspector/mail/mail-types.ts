import type { paths } from '../control-plane.d.ts';

type ReplyTo<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Reply } } } };
}
  ? Reply
  : never;

/** A mail in one line of the list. */
export type MailLine = ReplyTo<'/__mock/messages/search'>['messages'][number];

/** A mail with everything that is known about it. */
export type MailDetails = ReplyTo<'/__mock/messages/{id}'>;
