import { expect, test } from 'vitest';
import { VerifySession } from '../../src/verify/verify-session.ts';

/** Starts a session with a server that gives each new thing this id. */
function openSession(id: unknown) {
  const sent: string[] = [];
  const send = async (url: string, { method }: { method?: string }) => {
    const { pathname } = new URL(url);
    sent.push(`${method} ${pathname}`);
    const body = method === 'POST' ? { id } : {};
    return { status: method === 'POST' ? 201 : 200, headers: new Headers(), text: JSON.stringify(body), body };
  };
  const target = { baseUrl: 'http://127.0.0.1:1', key: 'tk_a_key', send };
  return { sent, session: new VerifySession(target as never) };
}

test.for(['.', '..', '', 5, null, undefined, { id: '..' }])(
  'a run never deletes by the id %j, which a server replied with',
  async (id) => {
    const { sent, session } = openSession(id);
    const isOdd = typeof id === 'object' && id !== null;
    const added = session.add('/v1/webhooks', {});
    if (isOdd) await expect(added).rejects.toThrow('the reply to POST /v1/webhooks has a field id that is not a text');
    else await added;
    await session.close();
    expect(sent.filter((call) => call.startsWith('DELETE'))).toEqual([]);
  },
);

test.for(['a/../b', '%2e%2e', '?a=b', '#', '\\'])('a run deletes what has the id %j by this id only', async (id) => {
  const { sent, session } = openSession(id);
  await session.add('/v1/webhooks', {});
  await session.close();
  expect(sent.filter((call) => call.startsWith('DELETE'))).toEqual([`DELETE /v1/webhooks/${encodeURIComponent(id)}`]);
});

test.for([
  '/v1/inboxes/../webhooks',
  '/v1/inboxes/%2E%2e/x',
  '/v1//x',
  '/v1/inboxes/',
  '/v1/a\\b',
  '/v1/a#b',
  '/v1/a b',
])('a run does not send a request to %s', async (path) => {
  const { sent, session } = openSession('a');
  await expect(session.delete(path)).rejects.toThrow('an id in it is no id');
  expect(sent).toEqual([]);
});
