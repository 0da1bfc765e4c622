import { createMailbox, type Mailbox, type Sandbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';

interceptRequests();

const register = ({ send }: Pick<Service, 'send'>, domain: string, key: string) =>
  send('POST', '/v1/domains', { key, json: { domain } });

const createSandbox = ({ mailbox }: { readonly mailbox: Pick<Mailbox, 'createSandbox'> }) =>
  mailbox.createSandbox() as unknown as Sandbox;

/** Forms of the domain of a sandbox, and of names that no sandbox has. */
const formsOf = (domain: string) => [
  'sandbox.test',
  'SANDBOX.Test',
  domain,
  domain.toUpperCase(),
  `mail.${domain}`,
  `a.b.${domain}`,
  'unknown.sandbox.test',
  'a.b.c.sandbox.test',
  'xn--bcher-kva.sandbox.test',
];

everywhere(
  'no tenant registers the domain of sandboxes, or one below it, whether it exists or not',
  async (service) => {
    const { keys } = service.mailbox;
    const { domain } = createSandbox(service);
    const other = createSandbox(service);
    const before = [service.mailbox.snapshot(), other.snapshot()];
    for (const key of [keys.acme.tenant, keys.acme.workspaces.sales, keys.globex.tenant, other.keys.tenant]) {
      for (const form of formsOf(domain)) {
        const { status, json } = await register(service, form, key);
        const name = form.toLowerCase();
        expect([status, json]).toEqual([
          409,
          {
            error: `The domain ${name} is reserved for sandboxes; register another one.`,
            code: 'ALREADY_EXISTS',
          },
        ]);
        expect((await service.send('GET', `/v1/domains/${form}/verify`, { key })).status).toBe(404);
      }
    }
    expect([service.mailbox.snapshot(), other.snapshot()]).toEqual(before);
  },
);

everywhere(
  'a domain that is written otherwise than a domain name is refused as such, or as what IDNA reads',
  async (service) => {
    const { domain } = createSandbox(service);
    for (const form of [`${domain}.`, 'x.sandbox.test.', ' x.sandbox.test']) {
      expect((await register(service, form, service.mailbox.keys.acme.tenant)).json.code).toBe('VALIDATION_ERROR');
    }
    // IDNA reads these as sandbox.test and x.sandbox.test.
    for (const form of ['ｓandbox.test', 'x。sandbox.test', 'x.sand\u00adbox.test']) {
      expect((await register(service, form, service.mailbox.keys.acme.tenant)).json.code).toBe('ALREADY_EXISTS');
    }
  },
);

everywhere('domains that only resemble the one of sandboxes are free', async (service) => {
  for (const domain of ['mysandbox.test', 'sandbox.test.example', 'sandbox.test2.example', 'sandbox.example']) {
    expect((await register(service, domain, service.mailbox.keys.acme.tenant)).status).toBe(201);
  }
});

everywhere('a sandbox registers its own domain again, and domains below it', async (service) => {
  const sandbox = createSandbox(service);
  const { domain, keys } = sandbox;
  const key = keys.tenant;
  expect((await register(service, domain, key)).json.error).toBe(`The domain ${domain} is already registered.`);
  await service.send('DELETE', `/v1/domains/${domain}`, { key });
  for (const name of [domain, `support.${domain}`]) {
    expect((await register(service, name, key)).status).toBe(201);
    expect((await service.send('GET', `/v1/domains/${name}/verify`, { key })).status).toBe(200);
    const { status } = await service.send('POST', '/v1/inboxes', { key, json: { username: 'new', domain: name } });
    expect(status).toBe(201);
    const [arrived] = await service.mailbox.receiveMessage({ to: `new@${name}`, from: 'dana@customer.test' });
    expect(arrived?.tenantId).toBe(sandbox.id);
  }
});

everywhere('no tenant gets an address at a sandbox, and no reply says which ones exist', async (service) => {
  const { keys, ids } = service.mailbox;
  const { domain } = createSandbox(service);
  const key = keys.acme.tenant;
  const replyTo = async (username: string) => {
    const json = { username, domain };
    const email = `${username}@${domain}`;
    const inbox = `/v1/inboxes/${ids.acme.inboxes.helpdesk}`;
    const mail = { to: [email], subject: 'Hi', plainBody: 'Hi', verified: true };
    const replies = [
      await service.send('POST', '/v1/inboxes', { key, json }),
      await service.send('POST', `${inbox}/addresses`, { key, json: { email } }),
    ];
    const sent = await service.send('POST', `${inbox}/send`, { key, json: mail });
    expect(replies.map(({ status }) => status)).toEqual([400, 400]);
    const shown = replies.map(({ json, headers }) => [json, headers.get('x-mock-assumed')]);
    return JSON.stringify([shown, sent.status, sent.headers.get('x-mock-assumed'), Object.keys(sent.json)]).replaceAll(
      username,
      '',
    );
  };
  expect(await replyTo('helpdesk')).toBe(await replyTo('nobody'));
});

const tenant = (inbox: object, domains?: object) => ({
  tenants: { a: { ...(domains && { domains }), workspaces: { main: { inboxes: { box: inbox } } } } },
});

test.for(['sandbox.test', 'x.sandbox.test', 'a.b.sandbox.test', 'X.Sandbox.Test', 'x.sandbox.test.'])(
  'a fixture cannot have the domain %s',
  (domain) => {
    const mailbox = createMailbox();
    const message =
      'inboxes.box.domain must not be in the domain sandbox.test or below it, which is only for sandboxes';
    const fixtures = tenant({ domain });
    expect(() => createMailbox({ fixtures })).toThrow(message);
    expect(() => mailbox.load(fixtures)).toThrow(message);
    expect(() => mailbox.createSandbox({ fixture: fixtures })).toThrow('must not be in the domain sandbox.test');
    expect(() => createMailbox({ fixtures: tenant({ addresses: [`box@${domain}`] }) })).toThrow(
      domain.endsWith('.') ? 'address' : 'addresses[0] must not be in the domain sandbox.test',
    );
    expect(() => createMailbox({ fixtures: tenant({}, { [domain.toLowerCase()]: {} }) })).toThrow(
      'must be a domain of the tenant, not one of the emulator',
    );
  },
);

test('a sandbox gets its mail although a mailbox has an exported copy of a sandbox with the same domain', async () => {
  const { tenants } = createMailbox().createSandbox({ seed: 7 }).export();
  const mailbox = createMailbox({ fixtures: { tenants } as never });
  const [[, former] = []] = Object.entries<{ tenant: string }>(mailbox.ids);
  const sandbox = mailbox.createSandbox({ fixture: tenant({}), seed: 7 }) as unknown as Sandbox;
  const [arrived] = await mailbox.receiveMessage({ to: `box@${sandbox.domain}`, from: 'dana@customer.test' });
  expect(arrived?.tenantId).toBe(sandbox.id);
  expect(former?.tenant).not.toBe(sandbox.id);
});
