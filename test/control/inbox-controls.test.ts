import { expect } from 'vitest';
import { control } from '../support/control.ts';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';

interceptRequests();

const addInbox = (service: Service, input: Parameters<Service['mailbox']['addInbox']>[0]) =>
  control(service, 'POST /inboxes', input, () => service.mailbox.addInbox(input));

everywhere('an inbox comes with a new tenant, gets mail, and is no request of a client', async (service) => {
  const { mailbox } = service;
  const { json: inbox } = await addInbox(service, { newTenant: 'Initech', username: 'helpdesk' });
  expect(inbox.address).toMatch(/^helpdesk@/);
  expect(mailbox.tenants().find(({ id }) => id === inbox.tenantId)).toMatchObject({
    name: 'Initech',
    workspaces: [{ id: inbox.workspaceId, inboxes: [{ id: inbox.id, address: inbox.address }] }],
  });
  expect(mailbox.exposure(inbox.key)).toMatchObject({ tier: 'inbox', inboxes: [inbox.id] });
  expect(mailbox.exposure(inbox.tenantKey)).toMatchObject({ tier: 'tenant', tenantId: inbox.tenantId });
  const [message] = await mailbox.receiveMessage({ to: inbox.address, from: 'dana@customer.test', subject: 'Hello' });
  expect(message?.inboxId).toBe(inbox.id);
  expect(mailbox.requests()).toEqual([]);
  const added = mailbox.journal().filter(({ kind }) => kind === 'key');
  expect(added).toMatchObject([{ data: { action: 'added', name: inbox.address } }]);
});

everywhere('an inbox belongs to the tenant that is named, and its address is its own', async (service) => {
  const { mailbox } = service;
  const { tenant } = mailbox.ids.acme;
  const { json: inbox } = await addInbox(service, { tenant, displayName: 'New' });
  expect(inbox).toMatchObject({ tenantId: tenant, tenantKey: null });
  const again = await addInbox(service, { tenant, username: inbox.address.split('@')[0] });
  expect(again).toMatchObject({ status: 409, json: { code: 'USERNAME_TAKEN' } });
});

everywhere('an inbox that cannot be made is refused without a trace', async (service) => {
  const { mailbox } = service;
  const before = mailbox.tenants();
  const { acme, globex } = mailbox.ids;
  const refused = [
    [{}, /needs tenant or newTenant, because there are several tenants: Acme/],
    [{ newTenant: 'Initech', username: 'not a name' }, /username/],
    [{ newTenant: 'Initech', domain: 'unverified.test' }, /is not verified/],
    [{ newTenant: '' }, /name/],
    [{ newTenant: 'Initech', tenant: acme.tenant }, /newTenant, or tenant/],
    [{ tenant: acme.tenant, workspace: Object.values(globex.workspaces)[0] }, /workspace/],
  ] as const;
  for (const [input, problem] of refused) {
    const { status, json } = await addInbox(service, input);
    expect(status, JSON.stringify(input)).toBeGreaterThanOrEqual(400);
    expect(json.error, JSON.stringify(input)).toMatch(problem);
  }
  expect(mailbox.tenants()).toEqual(before);
});
