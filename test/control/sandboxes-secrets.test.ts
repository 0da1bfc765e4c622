import { createMailbox, type Sandbox } from 'agent-mailbox-mock';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { expect, test } from 'vitest';
import { COLUMNS, SECRETS, splitType } from '../../src/fixture/columns.ts';
import { maskNamed } from '../../src/world/secrets/mask.ts';
import { control } from '../support/control.ts';
import { everywhere, interceptRequests } from '../support/everywhere.ts';

interceptRequests();

const SECRET = `whsec_${btoa('a secret of these tests.')}`;

everywhere(
  'one receiver verifies the webhooks of a fixture in every sandbox, but not one that a client created',
  async ({ mailbox, send }) => {
    await using receiver = createReceiver({ secret: SECRET });
    const url = await receiver.listen();
    const events = ['message.received'];
    const fixture = {
      tenants: {
        a: {
          workspaces: { main: { inboxes: { desk: { username: 'desk' } } } },
          webhooks: { hook: { url, secret: SECRET, events } },
        },
      },
    } as const;
    const sandboxes = [1, 2].map(() => mailbox.createSandbox({ fixture }) as unknown as Sandbox);
    for (const sandbox of sandboxes) sandbox.trigger('message.received');
    await mailbox.settled();
    expect(receiver.requests.map(({ verified }) => verified)).toEqual([true, true]);

    const [{ keys, trigger } = sandboxes[0] as Sandbox] = sandboxes;
    const created = await send('POST', '/v1/webhooks', { key: keys.tenant, json: { url, events } });
    expect(created.json.secret).not.toBe(SECRET);
    trigger('message.received', { webhookId: created.json.id });
    await mailbox.settled();
    expect(receiver.requests.at(-1)?.verified).toBe(false);
  },
);

/** The columns of all rows, each with its kind and its type. */
const columns = Object.entries(COLUMNS).flatMap(([kind, types]) =>
  Object.entries(types).map(([name, type]) => ({ kind, name, type: splitType(type).name })),
);

test('each column whose name or value is that of a secret says what a copy does with it', () => {
  const { tenants } = createMailbox().snapshot();
  const isSecret = ({ kind, name }: (typeof columns)[number]) => {
    const rows = kind === 'tenants' ? tenants : tenants.flatMap((tenant) => tenant[kind as 'inboxes']);
    const values = rows.flatMap((row) => Object.entries(row).flatMap(([key, value]) => (key === name ? [value] : [])));
    // The marker shows whether the name alone makes a value secret.
    return [...values, 'value'].some((value) => typeof value === 'string' && maskNamed(name, value) !== value);
  };
  const found = columns.filter(isSecret);
  expect(found.map(({ kind, name }) => `${kind}.${name}`)).toEqual([
    'inboxes.imapPassword',
    'apiKeys.key',
    'webhooks.secret',
  ]);
  expect(found.filter(({ type }) => !Object.hasOwn(SECRETS, type))).toEqual([]);
});

test('a copy has new secrets where it says so, and otherwise the same', () => {
  const mailbox = createMailbox();
  const [one, other] = [mailbox.createSandbox(), mailbox.createSandbox()].map((each) => each.snapshot().tenants[0]);
  const [tenant] = mailbox.snapshot().tenants;
  for (const { kind, name, type } of columns) {
    if (!(type in SECRETS) || kind === 'tenants') continue;
    const [original, ...copies] = [tenant, one, other].map((rows) =>
      rows?.[kind as 'inboxes'].map((row) => String(row[name as keyof typeof row])),
    );
    expect(original?.length).toBeGreaterThan(0);
    const isNew = SECRETS[type as keyof typeof SECRETS] === 'new';
    if (!isNew) expect(copies).toEqual([original, original]);
    else expect(new Set([original, ...copies].flat()).size).toBe(3 * Number(original?.length));
  }
});

test('two inboxes with one password in the fixture have two passwords in a sandbox', () => {
  const inboxes = { a: { imapPassword: 'one password' }, b: { imapPassword: 'one password' } };
  const fixture = { tenants: { t: { workspaces: { main: { inboxes } } } } } as const;
  const { logins } = createMailbox().createSandbox({ fixture });
  expect(new Set([logins.a.password, logins.b.password, 'one password']).size).toBe(3);
});

everywhere('the logins of a sandbox are those that the service shows, also after a reset', async (service) => {
  const sandbox = service.mailbox.createSandbox();
  const { ids, keys, logins } = sandbox;
  const show = async (handle: 'helpdesk' | 'billing') => {
    const { json } = await service.send('GET', `/v1/inboxes/${ids.inboxes[handle]}`, { key: keys.tenant });
    return { user: json.imap.username, password: json.imap.password };
  };
  expect([await show('helpdesk'), await show('billing')]).toEqual([logins.helpdesk, logins.billing]);
  expect(logins.helpdesk.user).toBe(`helpdesk@${sandbox.domain}`);
  sandbox.reset();
  expect(await show('helpdesk')).toEqual(sandbox.logins.helpdesk);
  const list = () => ({ sandboxes: service.mailbox.sandboxes() });
  expect((await control(service, 'GET /sandboxes', undefined, list)).json.sandboxes).toMatchObject([{ logins }]);
});

everywhere(
  'with a seed, the ids of a sandbox repeat, and its secrets only if they follow the seed',
  async (service) => {
    const { mailbox } = service;
    const create = async (secrets: 'seed' | 'random') => {
      mailbox.reset();
      const body = { seed: 7, secrets };
      const { json } = await control(service, 'POST /sandboxes', body, () => mailbox.createSandbox(body));
      const { id, domain, ids, keys, logins } = json;
      const { secret } = await (mailbox.sandbox(id) as unknown as Sandbox).addWebhook({ url: 'http://127.0.0.1:9/' });
      const inbox = await service.send('GET', `/v1/inboxes/${ids.inboxes.helpdesk}`, { key: keys.tenant });
      expect(inbox.status).toBe(200);
      return {
        open: { id, domain, ids },
        secrets: [...Object.values(keys.inboxes), keys.tenant, logins.helpdesk.password, secret],
      };
    };
    const [first, second, third, fourth] = [
      await create('seed'),
      await create('seed'),
      await create('random'),
      await create('random'),
    ];
    expect(second).toEqual(first);
    expect(fourth.open).toEqual(third.open);
    expect(new Set([...first.secrets, ...third.secrets, ...fourth.secrets]).size).toBe(first.secrets.length * 3);
    const [error] = await Promise.allSettled([
      control(service, 'POST /sandboxes', { secrets: 'none' }, () =>
        mailbox.createSandbox({ secrets: 'none' } as never),
      ),
    ]);
    expect(JSON.stringify(error.status === 'fulfilled' ? error.value : String(error.reason))).toContain(
      'must be seed or random',
    );
  },
);
