import type { Request, RequestHandler, Response } from 'express';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '../../contract/errors.ts';
import { MAX_FRAME_BYTES } from '../../contract/stream-protocol.ts';
import type { Mailbox } from '../../mailbox.ts';
import { isStreamPath } from '../../stream/admit.ts';
import type { AcceptStream } from '../../stream/streams.ts';
import type { Upgrades } from '../http/upgrade.ts';

/** Serves event streams over WebSocket. */
interface StreamServer {
  /** Takes over the requests that ask for a stream; it stands behind the guards. */
  readonly handler: RequestHandler;
  /** Tells every client that the server ends. */
  close(): void;
}

/** `1001`, "going away" (RFC 6455, section 7.4.1). */
const GOING_AWAY = 1001;

/** Creates the WebSocket side of a server; `isAllowed` says which origins' pages may open a stream. */
export function createStreamServer(
  mailbox: Pick<Mailbox, 'stream'>,
  upgrades: Upgrades,
  isAllowed: (origin: string) => boolean,
): StreamServer {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false });

  return {
    handler(request, response, next) {
      const upgrade = upgrades.get(request);
      if (!upgrade || !isStreamPath(request.path)) return next();
      checkHandshake(request);
      checkOrigin(request.headers.origin, isAllowed);
      const accept = mailbox.stream(toFetchRequest(request));
      // It would have carried a refusal.
      response.detachSocket(upgrade.socket);
      server.handleUpgrade(request, upgrade.socket, upgrade.head, (socket) => {
        connect(socket, accept);
        socket.once('close', () => endRequest(response));
      });
    },
    close() {
      for (const client of server.clients) client.close(GOING_AWAY, 'The server ends.');
    },
  };
}

/** What `ws` would refuse by itself, with a page of HTML (RFC 6455, section 4.2.1). */
function checkHandshake({ headers }: Request): void {
  if (!['13', '8'].includes(String(headers['sec-websocket-version']))) {
    const needed = { 'sec-websocket-version': '13, 8' };
    throw new ApiError('VALIDATION_ERROR', 'The header Sec-WebSocket-Version must be 13.', { headers: needed });
  }
  if (!/^[+/0-9A-Za-z]{22}==$/.test(String(headers['sec-websocket-key']))) {
    throw new ApiError('VALIDATION_ERROR', 'The header Sec-WebSocket-Key must be 16 bytes in base64.');
  }
}

/** A page elsewhere could open a stream with a key that is known, and read it: no CORS stands in its way. */
function checkOrigin(origin: string | undefined, isAllowed: (origin: string) => boolean): void {
  if (origin === undefined || isAllowed(origin)) return;
  throw new ApiError(
    'FOREIGN_ORIGIN',
    'A page of this origin may not open a stream; start with --cors-origin <origin> to allow it.',
  );
}

/** Lets the log have its line, once the stream is over. */
function endRequest(response: Response): void {
  response.statusCode = 101;
  response.emit('close');
}

function toFetchRequest({ url, headers, headersDistinct }: Request) {
  const fields = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return { url: `http://${headers.host}${url}`, headers: new Headers(fields) };
}

function connect(socket: WebSocket, accept: AcceptStream): void {
  const session = accept({
    // Given as bytes, what waits for many clients is kept once.
    send: (_text, toBytes) => socket.send(toBytes(), { binary: false }),
    close: (code, reason) => socket.close(code, reason),
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
  });
  socket.on('message', (data: RawData, isBinary: boolean) => session.receive(isBinary ? data : String(data)));
  socket.on('close', () => session.end());
  // A client that breaks off, or sends what is no WebSocket frame, ends its own stream and nothing else.
  socket.on('error', () => {});
}
