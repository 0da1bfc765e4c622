import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { control } from '../../support/control.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { senderTo } from '../../support/send.ts';

interceptRequests();

const UNKNOWN =
  'The API key is not valid: it is unknown or has been revoked; the key of a sandbox is valid only at the URL ' +
  'where the sandbox was created.';

/** Returns what the journal says of the latest request. */
const latest = ({ requests }: Pick<Mailbox, 'requests'>) => requests().at(-1);

describe('the keys of the journal', () => {
  everywhere('are found by their ids among the keys, which have their whole text', async (service) => {
    const { mailbox, send } = service;
    const { helpdesk } = mailbox.keys.acme.inboxes;
    await send('GET', '/v1/me', { key: helpdesk });
    const { json } = await control(service, 'GET /keys', undefined, () => ({ keys: mailbox.exposures() }));
    const entry = latest(mailbox);
    expect(json.keys).toContainEqual(expect.objectContaining({ id: entry?.keyId, text: helpdesk }));
    expect(entry?.key).toBe('ak_acme_…');
    await send('GET', '/v1/me', { key: mailbox.keys.operator });
    expect(latest(mailbox)).toMatchObject({ keyId: null, principal: { tier: 'operator' } });
    await send('GET', '/v1/me', { key: 'ak_unknown_inbox_key' });
    expect(latest(mailbox)).toMatchObject({ keyId: null, principal: null, reason: UNKNOWN });
  });

  everywhere('say when a key was rotated, and which one has replaced it', async (service) => {
    const { mailbox, send } = service;
    const { keys, ids } = mailbox;
    mailbox.clock.freeze('2026-03-01T15:32:10Z', { tenant: ids.acme.tenant });
    const { id: oldId } = mailbox.exposure(keys.acme.inboxes.helpdesk);
    const { json } = await send('POST', `/v1/inboxes/${ids.acme.inboxes.helpdesk}/keys`, { key: keys.acme.tenant });
    const refused = await send('GET', '/v1/me', { key: keys.acme.inboxes.helpdesk });
    expect(refused.json.error).toBe('The API key is not valid: it is unknown or has been revoked.');
    const reason = `The API key ${oldId} is not valid: it was rotated at 15:32:10; the new key is ${json.id}.`;
    expect(latest(mailbox)).toMatchObject({ keyId: null, principal: null, reason });
    const tenantKey = mailbox.exposure(keys.acme.tenant);
    const { id } = mailbox.rotateKey(String(tenantKey.id));
    await send('GET', '/v1/me', { key: keys.acme.tenant });
    expect(latest(mailbox)?.reason).toContain(
      `${tenantKey.id} is not valid: it was rotated at 15:32:10; the new key is ${id}`,
    );
  });

  test('name the key that a request has rotated itself', async () => {
    const mailbox = createMailbox({ behaviours: { 'inboxes.rotate.tiers': 'tenant-workspace-and-inbox' } });
    const key = mailbox.keys.acme.inboxes.helpdesk;
    const { id } = mailbox.exposure(key);
    await senderTo(mailbox)('POST', `/v1/inboxes/${mailbox.ids.acme.inboxes.helpdesk}/keys`, { key });
    expect(latest(mailbox)).toMatchObject({ keyId: id, principal: { tier: 'inbox' } });
  });

  test('forget rotations with a reset, a checkpoint and the end of a sandbox', async () => {
    const mailbox = createMailbox();
    const send = senderTo(mailbox);
    const reasonFor = async (key: string) => {
      await send('GET', '/v1/me', { key });
      return latest(mailbox)?.reason;
    };
    const { id, key: second } = mailbox.rotateKey(String(mailbox.exposure(mailbox.keys.acme.tenant).id));
    const third = mailbox.rotateKey(id);
    expect(await reasonFor(second)).toContain('it was rotated at');
    mailbox.checkpoint('later');
    mailbox.restore('later');
    expect(await reasonFor(second)).toBe(UNKNOWN);
    mailbox.reset();
    expect(await reasonFor(third.key)).toBe(UNKNOWN);
    const sandbox = mailbox.createSandbox();
    sandbox.rotateKey(String(sandbox.exposure(sandbox.keys.tenant).id));
    expect(await reasonFor(sandbox.keys.tenant)).toContain('it was rotated at');
    sandbox.close();
    expect(await reasonFor(sandbox.keys.tenant)).toBe(UNKNOWN);
  });

  test('remember a thousand rotations of a tenant', async () => {
    const mailbox = createMailbox();
    const first = mailbox.keys.acme.tenant;
    let { id } = mailbox.exposure(first);
    const rotated: string[] = [];
    for (let count = 0; count <= 1_000; count += 1) {
      const { key, ...next } = mailbox.rotateKey(String(id));
      rotated.push(key);
      id = next.id;
    }
    const send = senderTo(mailbox);
    await send('GET', '/v1/me', { key: first });
    expect(latest(mailbox)?.reason).toBe(UNKNOWN);
    await send('GET', '/v1/me', { key: String(rotated[0]) });
    expect(latest(mailbox)?.reason).toContain('it was rotated at');
  });
});
