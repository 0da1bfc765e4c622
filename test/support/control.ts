import { checkControlReply } from './check-control-reply.ts';
import { type Service, send } from './everywhere.ts';
import type { Reply, SendOptions } from './send.ts';

/** Returns whether a test runs against intercepted requests, and not against a server. */
export const isInProcess = ({ mailbox, url }: Service) => url === mailbox.baseUrl;

/** Sends a request to the control plane, and checks its reply by the schema of its row. */
export async function sendControl(url: string, method: string, options: SendOptions = {}): Promise<Reply> {
  const reply = await send(url, method, options);
  checkControlReply(method, url, reply);
  return reply;
}

/** The result of a control call, in either runtime. */
export interface ControlAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into replies of every shape.
  readonly json: any;
}

/**
 * Runs a control call: by the mailbox's method in process, where an error becomes the reply with its message, and by
 * a request such as `POST /events` to the control plane over HTTP.
 */
export async function control(
  service: Service,
  request: `${'GET' | 'POST' | 'DELETE'} ${string}`,
  json: unknown,
  run: () => unknown,
): Promise<ControlAnswer> {
  const [method = '', path] = request.split(' ');
  if (!isInProcess(service)) return sendControl(`${service.url}/__mock${path}`, method, { json });
  try {
    return { status: 200, json: JSON.parse(JSON.stringify((await run()) ?? null)) };
  } catch (error) {
    const { status, code, message } = error as Error & { status: number; code: string };
    return { status, json: { error: message, code } };
  }
}
