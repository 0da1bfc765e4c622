import { expect } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { provideWebSocket } from '../../support/stream-client.ts';
import { aliasOf, KEYS, open, refusal } from '../../support/streams.ts';

provideWebSocket();
interceptRequests();

const { tenant, inboxes } = IDS.acme;

everywhere('the journal has a request that opens a stream, with its principal', async (service) => {
  await using client = await open(service, KEYS.acme.inboxes.helpdesk, aliasOf(inboxes.helpdesk));
  await client.next('connected');
  const [entry, ...others] = service.mailbox.requests();
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    operation: null,
    method: 'GET',
    path: aliasOf(inboxes.helpdesk),
    principal: { tier: 'inbox', tenantId: tenant, inboxId: inboxes.helpdesk },
    status: 101,
    code: null,
    reason: null,
    reply: { headers: {}, body: null, bodyBytes: 0 },
  });
  expect(JSON.stringify(entry)).not.toContain(KEYS.acme.inboxes.helpdesk);
});

everywhere('the journal has the key of a stream that was sent in the query', async (service) => {
  await using client = await open(service, KEYS.acme.tenant);
  await client.next('connected');
  await refusal(service, `?api_key=${KEYS.acme.workspaces.sales}`, aliasOf(inboxes.helpdesk));
  const keysOf = (key: string) => service.mailbox.requests({ key }).map((entry) => entry.key);
  expect(keysOf(KEYS.acme.tenant)).toEqual(['tk_acme_…']);
  expect(keysOf(KEYS.acme.workspaces.sales)).toEqual(['wk_acme_…']);
  expect(service.mailbox.requests()[1]?.principal?.tenantId).toBe(tenant);
});

everywhere('the journal says why a stream was refused', async (service) => {
  for (const key of ['tk_unknown_tenant_key', KEYS.operator, KEYS.acme.workspaces.sales]) {
    await refusal(service, `?api_key=${key}`, aliasOf(inboxes.helpdesk));
  }
  const entries = service.mailbox.requests().map(({ status, code, reason }) => [status, code, reason]);
  expect(entries).toEqual([
    [401, 'UNAUTHORIZED', expect.stringMatching(/key/)],
    [403, 'FORBIDDEN', expect.stringMatching(/operator|sa_/)],
    [404, 'NOT_FOUND', expect.stringMatching(/Workspace key of Sales; the inbox with this id belongs to Support/)],
  ]);
});

everywhere('a journal of size 0 has no handshakes', { journalSize: 0 }, async (service) => {
  await using client = await open(service, KEYS.acme.tenant);
  await client.next('connected');
  expect(service.mailbox.requests()).toEqual([]);
});
