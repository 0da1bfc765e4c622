import { Webhook } from 'standardwebhooks';

/** The parts of a request that are verified. */
interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @throws {TypeError} on a text that cannot be the secret of a webhook. */
export function checkSecrets<Secret extends string | readonly string[] | undefined>(secret: Secret): Secret {
  if (secret === undefined) return secret;
  const secrets: readonly unknown[] = [secret].flat();
  if (secrets.length > 0 && secrets.every((each) => typeof each === 'string' && SECRET.test(each))) return secret;
  throw new TypeError(
    `The secret must be that of a webhook, whsec_ followed by base64, or a list of such, not ${JSON.stringify(secret)}.`,
  );
}

const SECRET = /^whsec_[A-Za-z0-9+/]*={0,2}$/;

/** The largest difference between a timestamp and the current time (Standard Webhooks and its libraries). */
const TOLERANCE_MS = 5 * 60 * 1000;

/**
 * Verifies a request by Standard Webhooks with any of the secrets. Returns the problem, or null if it is valid.
 *
 * The library compares timestamps with real time only, so with another clock they are checked here.
 */
export function findProblem(
  secrets: readonly string[],
  request: SignedRequest,
  now: (() => Date) | undefined,
): string | null {
  const problems = secrets.map((secret) => {
    try {
      if (now) verifyAt(new Webhook(secret), request, now());
      else new Webhook(secret).verify(request.body, { ...request.headers }, { jsonParse: false });
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  });
  return problems.includes(null) ? null : (problems[0] ?? 'There is no secret to verify it with.');
}

function verifyAt(webhook: Webhook, { headers, body }: SignedRequest, now: Date): void {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (!id || !timestamp || !signatures) throw new Error('Missing required headers');
  const at = new Date(Number(timestamp) * 1000);
  if (!(Math.abs(at.getTime() - now.getTime()) <= TOLERANCE_MS)) {
    throw new Error(`The timestamp ${timestamp} is more than 5 minutes from ${now.toISOString()}`);
  }
  if (!signatures.split(' ').includes(webhook.sign(id, at, body))) throw new Error('No matching signature found');
}
