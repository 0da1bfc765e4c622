import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AnyReply } from '../../pipeline/http.ts';

/** Sends a reply. A streamed reply is sent until it ends or the client disconnects. */
export async function sendReply(response: ServerResponse, { status, headers, body }: AnyReply): Promise<void> {
  response.writeHead(status, headers);
  if (!(body instanceof ReadableStream)) {
    response.end(body);
    return;
  }
  try {
    await pipeline(Readable.fromWeb(body as never), response);
  } catch (error) {
    const isClientGone = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!isClientGone) throw error;
  }
}
