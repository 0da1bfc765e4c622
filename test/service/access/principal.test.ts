import { expect } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { namedIn } from '../../support/readings.ts';

interceptRequests();

const BEHAVIOURS = { 'auth.both-headers': 'authorization' } as const;

/** Headers with two keys, of which the second counts. */
const twoKeys = ({ keys }: Service['mailbox']) => ({
  key: keys.acme.tenant,
  headers: { Authorization: `Bearer ${keys.globex.tenant}` },
});

everywhere(
  'the journal shows the key that counts, and its principal, of a request with two keys',
  { behaviours: BEHAVIOURS },
  async ({ send, mailbox }) => {
    const globex = mailbox.ids.globex.tenant;
    const { id } = mailbox.exposure(mailbox.keys.globex.tenant);
    expect((await send('GET', '/v1/me', twoKeys(mailbox))).json.tenantId).toBe(globex);
    expect((await send('GET', '/v1/nothing', twoKeys(mailbox))).status).toBe(404);
    expect((await send('GET', '/v1/ws', twoKeys(mailbox))).status).toBe(426);
    for (const entry of mailbox.requests()) {
      const { key, keyId, principal } = entry;
      expect([entry.path, key, keyId, principal?.tenantId]).toEqual([entry.path, 'tk_globe…', id, globex]);
    }
    expect(mailbox.requests()).toHaveLength(3);
  },
);

everywhere(
  'a path that is unknown depends on the order of the checks only if the key that counts is not valid',
  { behaviours: BEHAVIOURS },
  async ({ send, mailbox }) => {
    const nothing = async (key: string, other: string) =>
      namedIn(await send('GET', '/v1/nothing', { key, headers: { Authorization: `Bearer ${other}` } }));
    const { tenant } = mailbox.keys.acme;
    expect(await nothing('tk_nobody_has_this', tenant)).not.toContain('requests.check-order');
    expect(await nothing(tenant, 'tk_nobody_has_this')).toContain('requests.check-order');
  },
);

everywhere(
  'two keys that are refused are refused before the path, if the key is checked first',
  { behaviours: { 'auth.both-headers': 'refuse', 'requests.check-order': 'key-first' } },
  async ({ send, mailbox }) => {
    const reply = await send('GET', '/v1/nothing', twoKeys(mailbox));
    expect([reply.status, namedIn(reply)]).toEqual([
      401,
      ['auth.both-headers', 'requests.check-order', 'errors.shape'],
    ]);
  },
);
