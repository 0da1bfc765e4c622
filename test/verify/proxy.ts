import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { MailboxServer } from 'agent-mailbox-mock/server';
import type { TestContext } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { type Break, INTACT, sendThrough } from './broken-servers.ts';

/** What a proxy does with a request in place of sending it on. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Starts a proxy before a server. `onUpgrade` gets the handshakes of streams; by default these are sent on. */
export async function startProxy(
  context: Pick<TestContext, 'onTestFinished'>,
  server: MailboxServer,
  fault: Fault = () => false,
  onUpgrade?: (socket: Socket, incoming: IncomingMessage, head: Buffer) => void,
): Promise<string> {
  const target = new URL(server.url);
  // A busy process must not end a connection just when the next request is written to it.
  const proxy = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    if (fault(incoming, response)) return;
    const { url = '/', method, headers } = incoming;
    const outgoing = request({ host: target.hostname, port: target.port, path: url, method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  proxy.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => {});
    if (onUpgrade) {
      onUpgrade(socket, incoming, head);
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    upstream.on('error', () => socket.destroy());
    const lines = incoming.rawHeaders.map((text, index) => text + (index % 2 === 0 ? ': ' : '\r\n'));
    upstream.write(`GET ${incoming.url} HTTP/1.1\r\n${lines.join('')}\r\n`);
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  context.onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** The keys of both tenants and of the operator. */
export const keysOf = ({ mailbox }: MailboxServer) => {
  const { acme, globex } = mailbox.keys as unknown as Record<'acme' | 'globex', { tenant: string }>;
  return { tenant: acme.tenant, otherTenant: globex.tenant, operator: mailbox.keys.operator };
};

/** Whether a request is for the service, and not for a control call. */
export const isService = ({ url = '' }: IncomingMessage) => /^\/(?:v1\/|health$)/.test(url);

/** How the streams of a server are broken. */
export interface StreamBreak {
  /** Changes a frame; `undefined` if it is not sent. */
  // biome-ignore lint/suspicious/noExplicitAny: a frame of any type.
  readonly change?: (frame: any) => object | undefined;
  /** The key whose events a stream gets too. */
  readonly alsoOf?: (key: string) => string | undefined;
}

/** Starts a proxy before a server that makes it a broken one: in its replies, or in its streams. */
export async function startBroken(
  context: Pick<TestContext, 'onTestFinished'>,
  server: MailboxServer,
  { broken = INTACT, streams }: { readonly broken?: Break; readonly streams?: StreamBreak },
): Promise<string> {
  const send = sendThrough(server.mailbox, broken, keysOf(server));
  const passOn = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url = '' } = incoming;
    const body = await buffer(incoming);
    const init = { method, headers: headersOf(incoming), ...(body.length > 0 && { body: body.toString() }) };
    const reply = await send(`http://mailbox.test${url}`, init);
    const { 'content-length': _, ...headers } = Object.fromEntries(reply.headers);
    response.writeHead(reply.status, headers).end(reply.text);
  };
  const fault: Fault = (incoming, response) => {
    if (!isService(incoming)) return false;
    passOn(incoming, response).catch(() => response.destroy());
    return true;
  };
  const onUpgrade = streams && createStreamProxy(context, server.url.replace('http', 'ws'), streams);
  return await startProxy(context, server, fault, onUpgrade);
}

/** The headers of a request, without those of its connection. */
function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const own = /^(?:host|connection|content-length|transfer-encoding|upgrade|sec-websocket-.*)$/;
  const kept = Object.entries(headers).filter(([name]) => !own.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

/** Returns what passes on the handshakes and the frames of streams, some of them changed. */
function createStreamProxy(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  serverUrl: string,
  { change = (frame) => frame, alsoOf = () => undefined }: StreamBreak,
) {
  const clients = new WebSocketServer({ noServer: true });
  const opened: WebSocket[] = [];
  onTestFinished(() => {
    for (const socket of opened) socket.terminate();
    clients.close();
  });
  const connectTo = (path: string, headers: Record<string, string>) => {
    const upstream = new WebSocket(serverUrl + path, { headers }).on('error', () => {});
    opened.push(upstream);
    return upstream;
  };
  return (socket: Socket, incoming: IncomingMessage, head: Buffer) => {
    const headers = headersOf(incoming);
    const upstream = connectTo(incoming.url ?? '', headers);
    upstream.on('unexpected-response', (_, { statusCode }) => {
      socket.end(`HTTP/1.1 ${statusCode} Refused\r\nContent-Length: 0\r\n\r\n`);
    });
    // The server sends its first frame at once.
    const early: string[] = [];
    upstream.on('message', (data) => early.push(String(data)));
    upstream.once('open', () => {
      clients.handleUpgrade(incoming, socket, head, (client) => {
        const send = (data: string) => {
          const frame = change(JSON.parse(data));
          if (frame !== undefined) client.send(JSON.stringify(frame));
        };
        upstream.removeAllListeners('message').on('message', (data) => send(String(data)));
        early.forEach(send);
        client.on('message', (data) => upstream.send(String(data)));
        client.on('close', () => upstream.terminate());
        upstream.on('close', (code) => (code >= 3000 || code === 1000 ? client.close(code) : client.terminate()));
        const other = alsoOf(headers['x-api-key'] ?? '');
        if (other === undefined) return;
        const leaking = connectTo('/v1/ws', { 'x-api-key': other });
        leaking.on('open', () => leaking.send(JSON.stringify({ type: 'subscribe' })));
        leaking.on('message', (data) => {
          if (JSON.parse(String(data)).type === 'event') send(String(data));
        });
      });
    });
  };
}
