import type { Mailbox } from 'agent-mailbox-mock';
import type { Send } from './drive-every-operation.ts';

/** What one request was answered, in the words of both a page and Node. */
export interface Answer {
  readonly title: string;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

/** Sends what a client should not, or seldom does: each must have the same answer wherever the mailbox runs. */
export async function sendUnusualRequests(
  { baseUrl, keys }: Pick<Mailbox, 'baseUrl' | 'keys'>,
  send: Send,
): Promise<Answer[]> {
  const key = { 'X-API-Key': keys.acme.tenant };
  const webhook = JSON.stringify({ url: 'https://agent.example/hook', events: ['message.received'] });
  const requests: Record<string, [path: string, init: RequestInit]> = {
    'no key': ['/v1/webhooks', {}],
    'a bearer key': ['/v1/webhooks', { headers: { Authorization: `bearer ${keys.acme.tenant}` } }],
    'two keys': ['/v1/webhooks', { headers: { ...key, Authorization: `Bearer ${keys.globex.tenant}` } }],
    'a key in the query': [`/v1/webhooks?api_key=${keys.acme.tenant}`, {}],
    'a query and a fragment': ['/v1/webhooks?limit=1#top', { headers: key }],
    HEAD: ['/v1/webhooks', { method: 'HEAD', headers: key }],
    OPTIONS: ['/v1/webhooks', { method: 'OPTIONS' }],
    'a wrong method': ['/v1/webhooks', { method: 'PUT', headers: key, body: '{}' }],
    'an unknown route': ['/v1/nowhere', { headers: key }],
    'the bare prefix': ['/v1', { headers: key }],
    'a trailing slash': ['/v1/webhooks/', { headers: key }],
    'a trailing slash after health': ['/health/', {}],
    'more after health': ['/health/deep?x', {}],
    'doubled slashes': ['/v1//webhooks', { headers: key }],
    'dots in the path': ['/v1/inboxes/../webhooks', { headers: key }],
    'broken percent-encoding': ['/v1/webhooks/%E0%A4%A', { method: 'DELETE', headers: key }],
    'letters beyond ASCII': ['/v1/webhooks/héllo✉', { method: 'DELETE', headers: key }],
    'an empty body': ['/v1/webhooks', { method: 'POST', headers: key, body: '' }],
    'a body that is not JSON': ['/v1/webhooks', { method: 'POST', headers: key, body: '{' }],
    'a body that is not an object': ['/v1/webhooks', { method: 'POST', headers: key, body: '[]' }],
    'a body that is not UTF-8': ['/v1/webhooks', { method: 'POST', headers: key, body: Uint8Array.of(0xff, 0xfe) }],
    'a body of 1 MiB': ['/v1/webhooks', { method: 'POST', headers: key, body: webhook.padEnd(1024 * 1024) }],
    'a body over 1 MiB': ['/v1/webhooks', { method: 'POST', headers: key, body: webhook.padEnd(1024 * 1024 + 1) }],
    'a blob': ['/v1/webhooks', { method: 'POST', headers: key, body: new Blob([webhook]) }],
  };

  const answers: Answer[] = [];
  for (const [title, [path, init]] of Object.entries(requests)) {
    const { status, headers, text } = await readAnswer(await send(baseUrl + path, init));
    answers.push({ title, status, headers, text });
  }
  return answers;
}

async function readAnswer(response: Response): Promise<Omit<Answer, 'title'>> {
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}
