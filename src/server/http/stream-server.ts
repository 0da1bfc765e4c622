import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '../../contract/errors.ts';
import { MAX_FRAME_BYTES } from '../../contract/stream-protocol.ts';
import type { StreamRequest } from '../../service/access/check-stream-access.ts';
import type { AcceptStream, Streams } from '../../service/stream/streams.ts';
import type { WaitingOutput } from '../waiting-output.ts';
import { isOriginAllowed } from './guards.ts';
import type { NodeRequest } from './request-queue.ts';

/** `1001`, "going away" (RFC 6455, section 7.4.1). */
const GOING_AWAY = 1001;

/** Creates the part of a server that serves event streams over WebSocket to clients and to pages of allowed origins. */
export function createStreamServer({ admit }: Streams, output: WaitingOutput, allowedOrigins: ReadonlySet<string>) {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false });
  return {
    /**
     * Opens a stream for a request that has passed the guards. @throws {ApiError} if the client may not open the
     * stream; the caller then sends the refusal as `response`.
     */
    open(message: NodeRequest, request: StreamRequest, response: ServerResponse): undefined {
      checkHandshake(message.headers);
      checkOrigin(message.headers.origin, allowedOrigins);
      const accept = admit(request);
      response.detachSocket(message.socket);
      server.handleUpgrade(message, message.socket, message.head ?? Buffer.alloc(0), (webSocket) => {
        connect(webSocket, message.socket, accept, output);
        webSocket.once('close', () => {
          // The log writes its line when the response to the upgrade request is closed.
          response.statusCode = 101;
          response.emit('close');
        });
      });
    },
    /** Closes every stream, because the server is closing. */
    close() {
      for (const client of server.clients) client.close(GOING_AWAY, 'The server ends.');
    },
  };
}

/** Refuses an invalid handshake (RFC 6455, section 4.2.1), because `ws` would refuse it with an HTML page. */
function checkHandshake(headers: IncomingHttpHeaders): void {
  if (!['13', '8'].includes(String(headers['sec-websocket-version']))) {
    const needed = { 'sec-websocket-version': '13, 8' };
    throw new ApiError('VALIDATION_ERROR', 'The header Sec-WebSocket-Version must be 13.', { headers: needed });
  }
  if (!/^[+/0-9A-Za-z]{22}==$/.test(String(headers['sec-websocket-key']))) {
    throw new ApiError('VALIDATION_ERROR', 'The header Sec-WebSocket-Key must be 16 bytes in base64.');
  }
}

/** Refuses pages of other origins. CORS does not prevent such a page from opening a WebSocket with a known key. */
function checkOrigin(origin: string | undefined, allowedOrigins: ReadonlySet<string>): void {
  if (origin === undefined || isOriginAllowed(origin, allowedOrigins)) return;
  const problem = 'A page from this origin may not open a stream; start with --cors-origin <origin> to allow it.';
  throw new ApiError('FOREIGN_ORIGIN', problem);
}

/** About how much memory Node needs for each frame that waits, besides the bytes of the frame. */
const FRAME_OVERHEAD_BYTES = 512;

function connect(webSocket: WebSocket, socket: Socket, accept: AcceptStream, output: WaitingOutput): void {
  let waitingFrames = 0;
  const overhead = () => (socket.writableLength === 0 ? 0 : waitingFrames * FRAME_OVERHEAD_BYTES);
  const onSent = () => {
    waitingFrames -= 1;
  };
  const session = accept({
    // Frames are sent as bytes, so that many waiting clients share one copy.
    send: (_text, toBytes) => {
      waitingFrames += 1;
      webSocket.send(toBytes(), { binary: false }, onSent);
      output.written(socket, 'stream', overhead());
    },
    close: (code, reason) => webSocket.close(code, reason),
    get bufferedBytes() {
      return webSocket.bufferedAmount + overhead();
    },
  });
  webSocket.on('message', (data: RawData, isBinary: boolean) => session.receive(isBinary ? data : String(data)));
  // `ws` answers a ping itself. It ends the connection if 60 of its answers wait.
  webSocket.on('ping', () => output.written(socket, 'stream', overhead()));
  webSocket.on('close', () => session.end());
  // Without this listener, an aborted connection or an invalid frame would end the process, and not only close the
  // stream.
  webSocket.on('error', () => {});
}
