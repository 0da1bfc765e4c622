import type { ProtocolPart } from '../../../service/journal/entry-data.ts';

/** Returns the HTTP method of a request, or the name of a command. */
export function actionOf(call: ProtocolPart): string {
  return call.protocol === 'http' ? call.method : call.command;
}

/** The result of a request whose connection was cut before the reply. */
export const NO_REPLY = 'no reply';

/** Returns how a request or a command ended: the HTTP status, `no reply`, or what SMTP and IMAP call it. */
export function resultOf(call: ProtocolPart): string | number {
  return (call.protocol === 'http' ? call.status : call.result) || NO_REPLY;
}

/** Returns whether a request or a command was refused, or failed. A request whose connection was cut is not refused. */
export function isRefused(call: ProtocolPart): boolean {
  if (call.protocol === 'imap') return call.result !== 'OK';
  return (call.protocol === 'http' ? call.status : call.result) >= 400;
}

/** Returns a request or a command with its result, such as `GET /v1/me → 200` or `UID STORE INBOX → NO`. */
export function describeCall(call: ProtocolPart & { readonly path: string }): string {
  return `${actionOf(call)} ${call.path} → ${resultOf(call)}`;
}
