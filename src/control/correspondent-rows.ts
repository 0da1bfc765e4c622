import { z } from 'zod';
import { anyCorrespondent, type CorrespondentOptions, correspondentBody } from '../correspondents/correspondent.ts';
import { CONTROL_PATH } from './control-path.ts';
import { type ControlRow, defineControl } from './row.ts';

const CORRESPONDENTS_PATH = `${CONTROL_PATH}/correspondents`;

const correspondentsReply = z.strictObject({ correspondents: z.array(anyCorrespondent) });

/** The control calls for correspondents. */
export const CORRESPONDENT_ROWS: readonly ControlRow[] = [
  defineControl({
    id: 'listCorrespondents',
    method: 'GET',
    path: CORRESPONDENTS_PATH,
    summary: 'Lists the correspondents, oldest first.',
    takesSandbox: true,
    reply: correspondentsReply,
    run: (mailbox) => ({ correspondents: mailbox.correspondents() }),
  }),
  defineControl({
    id: 'addCorrespondent',
    method: 'POST',
    path: CORRESPONDENTS_PATH,
    summary: 'Adds somebody who answers the mail to an address.',
    takesSandbox: true,
    bodyCheckedByMailbox: correspondentBody,
    reply: anyCorrespondent,
    errors: ['NOT_FOUND', 'CONFLICT'],
    run: (mailbox, { body }) => mailbox.addCorrespondent(body as CorrespondentOptions),
  }),
  defineControl({
    id: 'clearCorrespondents',
    method: 'DELETE',
    path: CORRESPONDENTS_PATH,
    summary: 'Removes every correspondent.',
    takesSandbox: true,
    reply: correspondentsReply,
    run(mailbox) {
      mailbox.clearCorrespondents();
      return { correspondents: mailbox.correspondents() };
    },
  }),
  defineControl({
    id: 'removeCorrespondent',
    method: 'DELETE',
    path: `${CORRESPONDENTS_PATH}/{id}`,
    summary: 'Removes one correspondent.',
    takesSandbox: true,
    params: z.object({ id: z.string().describe('The id of a correspondent.') }),
    reply: anyCorrespondent,
    errors: ['NOT_FOUND'],
    run: (mailbox, { params }) => mailbox.removeCorrespondent(params.id),
  }),
];
