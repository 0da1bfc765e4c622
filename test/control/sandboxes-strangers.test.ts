import { createMailbox, type FeedEvent, type Sandbox } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHar } from '../../src/control/journal/har.ts';
import { control } from '../support/control.ts';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';
import { senderTo } from '../support/send.ts';

interceptRequests();

/** Everything of this sandbox has a name that occurs nowhere else. */
const STRANGE = {
  tenants: {
    strange: {
      name: 'Strange Corp',
      workspaces: { main: { name: 'Strange team', inboxes: { desk: { username: 'strange-desk' } } } },
      webhooks: { hook: { url: 'http://127.0.0.1:9/strange', events: ['message.received'] } },
    },
  },
} as const;

/** A sandbox that is observed, and one that it must learn nothing of, like the tenants of the mailbox. */
interface Pair {
  readonly own: Sandbox;
  readonly other: Sandbox;
}

type Step = (service: Service, pair: Pair) => unknown;

const keyOf = ({ keys }: Sandbox) => keys.tenant;
const paths = ({ ids }: Sandbox) => [
  `/v1/inboxes/${ids.inboxes.desk}`,
  `/v1/inboxes/${ids.inboxes.desk}/messages`,
  `/v1/webhooks/${ids.webhooks.hook}`,
];

/** What somebody outside of the observed sandbox does. */
const OUTSIDE: readonly Step[] = [
  ({ send }, { other }) => send('GET', `/v1/inboxes/${other.ids.tenant}`),
  ({ send }, { other }) => send('GET', `/v1/workspaces/${other.ids.workspaces.main}`, { key: 'tk_unknown_key_123' }),
  ({ send }, { other }) => send('GET', `/v1/nothing/${other.ids.tenant}`, { key: 'not a key' }),
  ({ send }, { other }) => send('GET', '/v1/nothing', { key: keyOf(other) }),
  ({ send, mailbox }, { other }) => send('GET', `/v1/tenants/${other.ids.tenant}`, { key: mailbox.keys.operator }),
  ({ send, mailbox }, { other }) => {
    const json = { to: [`strange-desk@${other.domain}`], subject: 'strange', plainBody: 'strange', verified: true };
    const inbox = mailbox.ids.acme.inboxes.helpdesk;
    return send('POST', `/v1/inboxes/${inbox}/send`, { key: mailbox.keys.acme.tenant, json });
  },
  ({ mailbox }) => mailbox.checkpoint('strange'),
  ({ mailbox }, { other }) => mailbox.rotateKey(String(other.exposures()[0]?.id)),
  ({ mailbox }) => mailbox.addFault({ on: 'request', operation: 'getMe', status: 503, body: { error: 'strange' } }),
  ({ mailbox }) => mailbox.clock.advance('1m'),
  (_, { other }) => other.trigger('message.received', { subject: 'strange' }),
];

/** What the observed sandbox does with ids, names and addresses of others. */
const INSIDE: readonly Step[] = [
  ...[0, 1, 2].map(
    (at): Step =>
      ({ send }, { own, other }) => {
        return send('GET', paths(other)[at] ?? '', { key: keyOf(own) });
      },
  ),
  ({ send, mailbox }, { own }) => send('GET', `/v1/webhooks/${mailbox.ids.acme.webhooks.support}`, { key: keyOf(own) }),
  ({ send, mailbox }, { own }) => send('DELETE', `/v1/keys/${mailbox.ids.acme.tenant}`, { key: keyOf(own) }),
  ({ send }, { own }) => send('GET', '/v1/domains/globex.test', { key: keyOf(own) }),
  ({ send }, { own }) => send('POST', '/v1/inboxes', { key: keyOf(own), json: { username: 'helpdesk' } }),
  ({ send }, { own, other }) => send('POST', '/v1/domains', { key: keyOf(own), json: { domain: other.domain } }),
  ({ send }, { own, other }) => {
    const json = { to: [`strange-desk@${other.domain}`, `nobody@${other.domain}`], subject: 'Hi', verified: true };
    return send('POST', `/v1/inboxes/${own.ids.inboxes.helpdesk}/send`, { key: keyOf(own), json });
  },
];

const options = { environment: { fetch: async () => new Response('') } };

everywhere('a sandbox shows nothing of what is outside of it, whoever asks for what', options, async (service) => {
  const anyStep = fc.constantFrom(...OUTSIDE, ...INSIDE);
  const property = fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 20 }), async (steps) => {
    service.mailbox.reset();
    const own = service.mailbox.createSandbox() as unknown as Sandbox;
    const other = service.mailbox.createSandbox({ fixture: STRANGE, name: 'strange' }) as unknown as Sandbox;
    for (const step of steps) await step(service, { own, other });
    await service.mailbox.settled();
    const seen = await observe(service, own);
    // The client of the sandbox has sent the other ids itself.
    const secrets = [other.id, other.ids.workspaces.main, keyOf(other), 'Globex', service.mailbox.ids.globex.tenant];
    for (const secret of [/strange/i, ...secrets]) {
      expect(seen.replaceAll(`strange-desk@${other.domain}`, '')).not.toMatch(secret ?? '');
    }
    expect(own.requests().every(({ principal }) => principal?.tenantId === own.id)).toBe(true);
  });
  await fc.assert(property, { numRuns: 15, examples: [[[...OUTSIDE, ...INSIDE]]] });
});

/** Returns everything that a sandbox shows of its requests, as text. */
async function observe(service: Service, own: Sandbox): Promise<string> {
  const events: FeedEvent[] = [];
  for await (const event of own.feed({ lastEventId: '0', follow: false })) events.push(event);
  const har = await control(service, `GET /requests?format=har&sandbox=${own.id}`, undefined, () =>
    createHar(own.requests(), own.baseUrl),
  );
  const reply = await service.send('GET', `/v1/workspaces/${service.mailbox.ids.globex.tenant}`, { key: keyOf(own) });
  return JSON.stringify([own.requests().slice(0, -1), events, har.json, [...reply.headers], own.faults()]);
}

everywhere('the feed of a sandbox has only its own requests, and that of the mailbox has all', async (service) => {
  const [own, other] = [1, 2].map(() => service.mailbox.createSandbox() as unknown as Sandbox) as [Sandbox, Sandbox];
  await service.send('GET', `/v1/inboxes/${other.ids.inboxes.helpdesk}`);
  await service.send('GET', `/v1/tenants/${other.id}`, { key: service.mailbox.keys.operator });
  await service.send('GET', '/v1/me', { key: keyOf(other) });
  await service.send('GET', '/v1/me', { key: keyOf(own) });
  const requestsOf = async (controlled: Pick<Sandbox, 'feed'>) => {
    const paths: string[] = [];
    for await (const event of controlled.feed({ lastEventId: '0', follow: false })) {
      if (event.kind === 'request') paths.push(event.data.path);
    }
    return paths;
  };
  expect(await requestsOf(own)).toEqual(['/v1/me']);
  expect(await requestsOf(service.mailbox)).toHaveLength(4);
});

test('failures and faults of the mailbox are not in the feed of a sandbox, because they may name what is outside', async () => {
  let isBroken = false;
  const randomBytes = (count: number) => {
    if (isBroken) throw new Error('The strange part is broken.');
    return crypto.getRandomValues(new Uint8Array(count));
  };
  const mailbox = createMailbox({ environment: { report: () => {}, randomBytes } });
  const sandbox = mailbox.createSandbox();
  const { id } = mailbox.addFault({ on: 'request', operation: 'createWebhook', status: 503 });
  mailbox.removeFault(id);
  isBroken = true;
  const json = { url: 'http://127.0.0.1:9/', events: ['message.received'] };
  await senderTo(mailbox)('POST', '/v1/webhooks', { key: mailbox.keys.globex.tenant, json });
  const kindsOf = async (feed: AsyncIterable<FeedEvent>) => {
    const kinds: string[] = [];
    for await (const { kind } of feed) kinds.push(kind);
    return kinds;
  };
  const past = { lastEventId: '0', follow: false };
  expect(await kindsOf(mailbox.feed(past))).toEqual(['sandbox', 'fault', 'fault', 'failure', 'request']);
  expect(await kindsOf(sandbox.feed(past))).toEqual([]);
});
