import { ApiError } from '../contract/errors.ts';
import { showSize } from '../contract/size.ts';
import { sizeOfMailRow } from '../store/row-size.ts';
import type { MailContext } from './mail-context.ts';
import type { AttachedFile } from './store-message.ts';

/**
 * Checks that the storage has space for more mail; `bytes` is the size of the new mail.
 *
 * @throws {ApiError} STORAGE_FULL
 */
export function checkRoom({ worlds, assume }: Pick<MailContext, 'worlds' | 'assume'>, bytes: number): void {
  const used = worlds.countMailBytes(bytes);
  if (used + bytes <= worlds.maxMailBytes) return;
  assume('requests.storage-limit');
  const [room, limit] = [worlds.maxMailBytes - used, worlds.maxMailBytes].map(showSize);
  throw new ApiError(
    'STORAGE_FULL',
    `The message does not fit in the storage: it needs ${showSize(bytes)}, and ${room} of ${limit} are free. Reset the emulator, remove checkpoints, or ${worlds.moreMail}.`,
  );
}

/** Returns the size of a mail as stored in one inbox, in bytes. */
export function sizeOfMail<Mail extends { readonly attachments: readonly AttachedFile[] }>(mail: Mail): number {
  const { attachments, ...message } = mail;
  return attachments.reduce((sum, file) => sum + sizeOfMailRow(file), sizeOfMailRow(message));
}
