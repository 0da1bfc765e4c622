import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '../../contract/errors.ts';
import type { StreamRequest } from '../../service/access/check-stream-access.ts';
import type { AcceptStream, Streams } from '../../service/stream/streams.ts';
import type { ByteCounter, Intake } from '../intake.ts';
import { LIMITS } from '../server-limits.ts';
import type { WaitingOutput } from '../waiting-output.ts';
import { isOriginAllowed } from './guards.ts';
import { closeGracefully, type NodeRequest } from './request-queue.ts';

/** `1001`, "going away" (RFC 6455, section 7.4.1). */
const GOING_AWAY = 1001;

/** `1013`, "try again later" (the registry of close codes of IANA). */
const TRY_AGAIN_LATER = 1013;

/** What the streams of a server share. */
interface StreamServerOptions {
  readonly intake: Intake;
  readonly output: WaitingOutput;
  /** Origins, besides loopback origins, whose pages may open a stream. */
  readonly allowedOrigins: ReadonlySet<string>;
}

/** Creates the part of a server that serves event streams over WebSocket to clients and to pages of allowed origins. */
export function createStreamServer({ admit }: Streams, { intake, output, allowedOrigins }: StreamServerOptions) {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: LIMITS.streamFrame.value,
    // Each fragment can keep a whole chunk of Node in memory.
    maxFragments: LIMITS.streamFragments.value,
    perMessageDeflate: false,
  });
  return {
    /**
     * Opens a stream for a request that has passed the guards. @throws {ApiError} if the client may not open the
     * stream; the caller then sends the refusal as `response`. `client` has the names of the client.
     */
    open(message: NodeRequest, request: StreamRequest, response: ServerResponse, client: readonly string[]): undefined {
      checkHandshake(message.headers);
      checkOrigin(message.headers.origin, allowedOrigins);
      const accept = admit(request);
      response.detachSocket(message.socket);
      server.handleUpgrade(message, message.socket, message.head ?? Buffer.alloc(0), (webSocket) => {
        connect(webSocket, message.socket, accept, output);
        countIncomplete(webSocket, message.socket, intake, client);
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

/** About how much memory Node needs for each chunk that `ws` keeps, besides its bytes. */
const CHUNK_OVERHEAD_BYTES = 256;

/** What `ws` keeps of a message that has not arrived completely. */
interface IncompleteMessage {
  /** The bytes of a fragment that is not complete, and the chunks in which they came. */
  readonly _bufferedBytes: number;
  readonly _buffers: readonly unknown[];
  /** The bytes of the complete fragments, and these fragments. */
  readonly _messageLength: number;
  readonly _fragments: readonly unknown[];
}

/**
 * Counts what is kept of a message that has not arrived completely, because a client may never send the rest. `ws` does
 * not say how much that is, so its receiver is read. A client that loses its room loses its connection.
 */
function countIncomplete(webSocket: WebSocket, socket: Socket, intake: Intake, client: readonly string[]): void {
  const { _receiver: receiver } = webSocket as WebSocket & { readonly _receiver: IncompleteMessage };
  let counter: ByteCounter | undefined;
  let counted = 0;
  const release = () => {
    counter?.release();
    counter = undefined;
    counted = 0;
  };
  const onDropped = ({ message }: Error) => {
    webSocket.close(TRY_AGAIN_LATER, message.slice(0, 123));
    closeGracefully(socket);
  };
  // This listener runs after that of `ws`, which has read the chunk.
  socket.on('data', () => {
    const { _bufferedBytes, _buffers, _messageLength, _fragments } = receiver;
    const overhead = (_buffers.length + _fragments.length) * CHUNK_OVERHEAD_BYTES;
    const kept = _bufferedBytes + _messageLength + overhead;
    // A message has been completed, and another one has begun.
    if (kept < counted) release();
    if (kept === 0) return;
    counter ??= intake.createCounter({ client, onDropped });
    const refusal = counter.add(kept - counted);
    if (refusal) onDropped(refusal);
    counted = kept;
  });
  webSocket.on('close', release);
}
