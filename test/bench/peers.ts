import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ROOT } from '../support/root.ts';

const run = promisify(execFile);

/** The version that the goals name. The package without a version may be another one by now. */
const EMULATE = 'emulate@0.8.0';

const OUR_KEY = { 'X-API-Key': 'tk_acme_tenant_key' };

/** A server to measure. */
export interface Peer {
  /** The arguments with which Node starts it. */
  readonly args: readonly string[];
  readonly port: number;
  /** The path of a list, which a `POST` to the same path makes longer. */
  readonly path: string;
  /** The headers of a request with a key. */
  headers(): Readonly<Record<string, string>>;
  /** The body of a `POST` that creates something. */
  readonly body: unknown;
}

/** Builds the package and returns our server, as a user starts it, without a log. */
export async function buildOurs(): Promise<Peer> {
  await run('npm', ['run', 'build'], { cwd: ROOT });
  const port = await findFreePort();
  return {
    args: [await findCommand(ROOT, 'agent-mailbox-mock'), '--quiet', '--port', String(port)],
    port,
    path: '/v1/webhooks',
    headers: () => OUR_KEY,
    body: { url: 'https://agent.example/hook', events: ['message.received'] },
  };
}

/** Returns the same server with more flags, on a port of its own. */
export async function withFlags(peer: Peer, ...flags: string[]): Promise<Peer> {
  const port = await findFreePort();
  return { ...peer, args: [...peer.args, ...flags, '--port', String(port)], port };
}

/**
 * Installs `emulate` into a temporary folder and returns its Resend service. That is the nearest of its services: it is
 * for mail too, reads a key with each request, and a domain of it is as large as a webhook of ours. It is also faster
 * than its GitHub service, whose hooks would be the same resource.
 */
export async function installEmulate(): Promise<Peer & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-mailbox-bench-'));
  await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', EMULATE], { cwd: folder });
  const port = await findFreePort();
  const command = await findCommand(join(folder, 'node_modules', 'emulate'), 'emulate');
  let keys = 0;
  return {
    args: [command, '--service', 'resend', '--port', String(port)],
    port,
    path: '/domains',
    // Another key each time, because it answers 5000 requests with each. It accepts any.
    headers: () => ({ Authorization: `Bearer re_${String(++keys).padStart(15, '0')}` }),
    body: { name: 'agent.example' },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Returns bare `node:http`, which answers with the bytes of this reply. */
export async function describeBare(reply: Response): Promise<Peer> {
  const port = await findFreePort();
  const file = fileURLToPath(new URL('bare.mjs', import.meta.url));
  const head = Object.fromEntries(HEADERS_OF_REPLY.map((name) => [name, reply.headers.get(name)]));
  return {
    args: [file, String(port), JSON.stringify(head), await reply.text()],
    port,
    path: '/v1/webhooks',
    headers: () => OUR_KEY,
    body: undefined,
  };
}

/** The headers that our server sets itself; Node adds the others on both sides. */
const HEADERS_OF_REPLY = ['content-type', 'content-length', 'x-mock-assumed'];

/** Starts a server and waits for its first answer to a request with a key. */
export async function startPeer(peer: Peer): Promise<ChildProcess> {
  const child = spawn(process.execPath, peer.args, { stdio: 'ignore' });
  await untilAnswered(peer, child);
  return child;
}

async function untilAnswered(peer: Peer, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const status = await readStatus(peer).catch(() => undefined);
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`The server ${peer.args.join(' ')} ended with ${child.exitCode}.`);
}

function readStatus({ port, path, headers }: Peer): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, headers: headers(), agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    }).on('error', reject);
  });
}

async function findCommand(folder: string, name: string): Promise<string> {
  const { bin } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return join(folder, bin[name]);
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
