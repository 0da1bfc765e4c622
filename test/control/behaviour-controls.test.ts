import { type BehaviourChanges, createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, test } from 'vitest';
import { control, sendControl } from '../support/control.ts';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';
import { senderTo } from '../support/send.ts';

interceptRequests();

const SECRET = 'webhooks.list.secret';

const change = (service: Service, changes: object) =>
  control(service, 'POST /behaviours', changes, () => service.mailbox.changeBehaviours(changes as BehaviourChanges));

describe('behaviours that a test changes', () => {
  everywhere('apply to the next request, and the journal keeps the values of the time', async (service) => {
    const { mailbox, send } = service;
    const key = mailbox.keys.acme.tenant;
    const sandbox = mailbox.createSandbox();
    const hasSecret = async (by = key) => 'secret' in (await send('GET', '/v1/webhooks', { key: by })).json.webhooks[0];
    const before = mailbox.behaviours[SECRET];
    const first = await hasSecret();
    expect((await change(service, { [SECRET]: 'omitted' })).status).toBe(200);
    expect(mailbox.behaviours[SECRET]).toBe('omitted');
    expect([first, await hasSecret(), await hasSecret(sandbox.keys.tenant)]).toEqual([true, false, false]);
    expect(mailbox.openApi()).toEqual(
      createMailbox({ baseUrl: mailbox.baseUrl, behaviours: { [SECRET]: 'omitted' } }).openApi(),
    );
    const values = mailbox.requests({ tenant: IDS.acme.tenant }).map(({ choices }) => choices[SECRET]);
    expect(values).toEqual([before, 'omitted']);
    await change(service, { 'auth.wrong-tier': 'not-found' });
    const wrongTier = () => send('POST', '/v1/tenants', { key, json: { name: 'Initech' } });
    expect((await wrongTier()).status).toBe(404);
    await change(service, { 'auth.wrong-tier': null });
    expect((await wrongTier()).status).toBe(403);
    expect(mailbox.behaviours[SECRET]).toBe('omitted');
    mailbox.reset();
    expect(mailbox.behaviours[SECRET]).toBe(before);
    expect(await hasSecret()).toBe(true);
  });

  everywhere('are refused with the nearest id, or the possible values, and nothing has changed', async (service) => {
    const { mailbox } = service;
    const wrongId = await change(service, { [SECRET]: 'omitted', 'webhooks.list.secrets': 'omitted' });
    expect([wrongId.status, wrongId.json.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(wrongId.json.error).toContain('did you mean webhooks.list.secret');
    expect((await change(service, { [SECRET]: 'hidden' })).json.error).toMatch(/cannot be "hidden"; it can be: /);
    expect((await change(service, { 'webhooks.list.secrets': null })).status).toBe(400);
    expect((await change(service, { [SECRET]: 1 })).status).toBe(400);
    expect(mailbox.behaviourStates()[SECRET].source).toBe('default');
  });

  test('say where their values come from', async () => {
    const profile = { behaviours: { 'auth.wrong-tier': 'not-found', 'deliveries.order': 'parallel' } } as const;
    await using server = await startServer({ port: 0, profile, behaviours: { [SECRET]: 'omitted' } });
    const list = async () => {
      const { json } = await sendControl(`${server.url}/__mock/behaviours`, 'GET');
      return Object.fromEntries(json.behaviours.map((each: { id: string }) => [each.id, each]));
    };
    expect(await list()).toMatchObject({
      'auth.wrong-tier': { value: 'not-found', source: 'profile', start: 'not-found', isPinned: true },
      [SECRET]: { value: 'omitted', source: 'option', start: 'omitted', isPinned: false },
      'webhooks.delete.body': { source: 'default', isPinned: false },
    });
    server.mailbox.changeBehaviours({ 'auth.wrong-tier': 'forbidden' });
    expect((await list())['auth.wrong-tier']).toMatchObject({
      value: 'forbidden',
      source: 'changed',
      start: 'not-found',
      isPinned: true,
    });
  });

  test('come back with a checkpoint, and are in the feed', async () => {
    const mailbox = createMailbox();
    const before = mailbox.behaviours[SECRET];
    mailbox.checkpoint('before');
    mailbox.changeBehaviours({ [SECRET]: 'omitted' });
    mailbox.checkpoint('omitted');
    mailbox.restore('before');
    expect(mailbox.behaviours[SECRET]).toBe(before);
    mailbox.restore('omitted');
    expect(mailbox.behaviours[SECRET]).toBe('omitted');
    const kinds: string[] = [];
    for await (const { kind } of mailbox.feed({ lastEventId: '0', follow: false })) kinds.push(kind);
    expect(kinds).toContain('behaviours');
    const other = createMailbox();
    expect(other.behaviours[SECRET]).toBe(before);
    expect(Object.isFrozen(other.behaviours)).toBe(true);
    expect((await senderTo(other)('GET', '/v1/me', { key: other.keys.acme.tenant })).status).toBe(200);
  });
});
