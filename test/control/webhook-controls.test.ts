import { type AddedWebhook, createMailbox, EVENT_KINDS } from 'agent-mailbox-mock';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { expect, test } from 'vitest';
import { control } from '../support/control.ts';
import { everywhere, interceptRequests } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';
import { createWebhook } from '../support/webhooks.ts';

interceptRequests();

everywhere('the control plane lists every webhook with its secret', async (service) => {
  const { mailbox } = service;
  const { id, secret } = await createWebhook(service, 'https://agent.example/hook');
  const { json } = await control(service, 'GET /webhooks', undefined, () => ({ webhooks: mailbox.webhooks() }));
  expect(json.webhooks.map((webhook: { id: string }) => webhook.id)).toEqual([
    ...Object.values(mailbox.ids.acme.webhooks),
    id,
    ...Object.values(mailbox.ids.globex.webhooks),
  ]);
  expect(json.webhooks.find((webhook: { id: string }) => webhook.id === id)).toEqual({
    id,
    tenantId: IDS.acme.tenant,
    workspaceId: null,
    url: 'https://agent.example/hook',
    events: [...EVENT_KINDS],
    isActive: true,
    secret,
  });
});

everywhere('the webhooks of a sandbox are only its own', async ({ mailbox }) => {
  const sandbox = mailbox.createSandbox();
  expect(sandbox.webhooks().map(({ id }) => id)).toEqual(Object.values(sandbox.ids.webhooks));
});

everywhere('a test adds a webhook for a tenant, a workspace or the workspace of an inbox', async (service) => {
  const { mailbox } = service;
  const add = async (json: AddedWebhook) =>
    (await control(service, 'POST /webhooks', json, () => mailbox.addWebhook(json))).json;
  const url = 'http://127.0.0.1:9/in';
  const { tenant, workspaces, inboxes } = mailbox.ids.acme;
  const common = { tenantId: tenant, url, isActive: true, secret: expect.stringMatching(/^whsec_/) };
  expect(await add({ url, tenant })).toMatchObject({ ...common, workspaceId: null, events: ['message.received'] });
  expect(await add({ url, workspace: workspaces.sales, events: ['message.sent'] })).toMatchObject({
    ...common,
    workspaceId: workspaces.sales,
    events: ['message.sent'],
  });
  for (const workspaceOf of ['HelpDesk@acme.test', inboxes.helpdesk]) {
    expect(await add({ url, workspaceOf })).toMatchObject({ ...common, workspaceId: workspaces.support });
  }
  expect(mailbox.webhooks().filter((webhook) => webhook.url === url)).toHaveLength(4);
});

everywhere('a webhook that a test adds wrongly is refused, and nothing is added', async (service) => {
  const { mailbox } = service;
  const before = mailbox.webhooks();
  const refusalOf = async (json: object) => {
    const add = () => mailbox.addWebhook(json as AddedWebhook);
    return (await control(service, 'POST /webhooks', json, add)).json.error;
  };
  const url = 'http://127.0.0.1:9/in';
  const { tenant, workspaces } = mailbox.ids.acme;
  const other = mailbox.ids.globex.tenant;
  expect(await refusalOf({ url })).toBe(
    'The webhook needs workspaceOf, workspace or tenant, because there are several tenants: ' +
      `Acme (${tenant}), Globex (${mailbox.ids.globex.tenant}).`,
  );
  expect(await refusalOf({ url: 'ftp://127.0.0.1', tenant })).toContain('url');
  expect(await refusalOf({ url, tenant, events: ['message.read'] })).toContain('events[0]');
  expect(await refusalOf({ url, workspaceOf: 'nobody@acme.test' })).toContain('There is no inbox nobody@acme.test.');
  expect(await refusalOf({ url, workspace: tenant })).toContain('There is no workspace with this id.');
  expect(await refusalOf({ url, tenant, inboxes: [] })).toContain('inboxes');
  const notOfTenant = 'The webhook is not valid: tenant must be the tenant of the inbox or of the workspace.';
  expect(await refusalOf({ url, workspaceOf: 'helpdesk@acme.test', tenant: other })).toBe(notOfTenant);
  expect(await refusalOf({ url, workspace: workspaces.sales, tenant: other })).toBe(notOfTenant);
  expect(await refusalOf({ url, workspaceOf: 'helpdesk@acme.test', workspace: workspaces.sales })).toBe(
    'The webhook is not valid: workspace must be the workspace of the inbox.',
  );
  expect(mailbox.webhooks()).toEqual(before);
});

test('a receiver that is added gets the secret, so that it verifies what it receives', async () => {
  const mailbox = createMailbox();
  const sandbox = mailbox.createSandbox();
  await using receiver = createReceiver();
  const { secret, url } = await sandbox.addWebhook({ receiver, workspaceOf: `helpdesk@${sandbox.domain}` });
  expect(receiver.secret).toBe(secret);
  expect(url).toBe(await receiver.listen());
  await sandbox.receiveMessage({ from: 'dana@customer.test', to: `helpdesk@${sandbox.domain}`, subject: 'Hello' });
  await sandbox.settled();
  expect(receiver.requests).toMatchObject([{ verified: true, json: { subject: 'Hello' } }]);
});
