import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** How often a delivery fails at most, so that each one arrives in the end. */
const MAX_FAILURES = 2;

/** The share of the attempts that fail. */
const FAILING = 0.2;

/** How a receiver fails: by a status, or by a closed connection. */
const FAILURES = [503, 500, 'cut'] as const;

/** Starts a receiver of webhooks that sometimes fails. `subjects` are those of the mails whose delivery it accepted. */
export async function startReceiver(report: (problem: string) => void) {
  const secrets = new Map<string, string>();
  const failures = new Map<string, number>();
  const accepted = new Map<string, Set<string>>();
  let attempts = 0;
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    // The emulator was killed while it sent.
    if (body === undefined) return;
    attempts += 1;
    const path = String(request.url);
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = request.headers;
    const secret = secrets.get(path);
    if (secret !== undefined && !isSigned(secret, `${id}.${timestamp}.${body}`, String(signature))) {
      report(`A delivery to ${path} has a wrong signature`);
    }
    const failed = failures.get(String(id)) ?? 0;
    if (failed < MAX_FAILURES && Math.random() < FAILING) {
      failures.set(String(id), failed + 1);
      const failure = FAILURES[Math.floor(Math.random() * FAILURES.length)];
      if (failure === 'cut') request.socket.destroy();
      else response.writeHead(Number(failure)).end();
      return;
    }
    const { subject } = JSON.parse(body);
    const subjects = accepted.get(path) ?? new Set();
    accepted.set(path, subjects.add(subject));
    failures.delete(String(id));
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secrets,
    get attempts() {
      return attempts;
    },
    /** Whether a webhook got a mail with this subject. */
    hasAccepted: (path: string, subject: string) => accepted.get(path)?.has(subject) === true,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function isSigned(secret: string, content: string, header: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(content).digest('base64')}`);
  return header
    .split(' ')
    .some((each) => each.length === expected.length && timingSafeEqual(Buffer.from(each), expected));
}
