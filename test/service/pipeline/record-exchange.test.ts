import type { Mailbox, Sandbox } from 'agent-mailbox-mock';
import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { senderTo } from '../../support/send.ts';

/** Who can be told of a refused request: the two sandboxes that it does not come from, and the mailbox if it is nobody's. */
type Told = 'named' | 'all' | 'mailbox';

interface Row {
  readonly request: (named: Sandbox, mailbox: Mailbox) => [method: string, path: string, options?: object];
  readonly told: readonly Told[];
}

const UNKNOWN_KEY = { key: 'tk_unknown_key_123456' };
const json = (text: string) => ({ ...UNKNOWN_KEY, json: { to: [text] } });

/** Refused requests, each with who is told of it. */
const ROWS: Readonly<Record<string, Row>> = {
  'without a key, about nothing of anybody': {
    request: () => ['GET', '/v1/messages'],
    told: ['all', 'mailbox'],
  },
  'without a valid key, with an id of the sandbox in its path': {
    request: ({ ids }) => ['GET', `/v1/inboxes/${ids.inboxes.helpdesk}`, UNKNOWN_KEY],
    told: ['named', 'all'],
  },
  'without a valid key, with the id of the sandbox itself in its query': {
    request: ({ id }) => ['GET', `/v1/messages?tenant=${id}`, UNKNOWN_KEY],
    told: ['named', 'all'],
  },
  'without a valid key, with an address of the sandbox in its body': {
    request: ({ domain }) => ['POST', '/v1/inboxes', json(`nobody@${domain}`)],
    told: ['named', 'all'],
  },
  'with a former key of the sandbox': {
    request: (named) => {
      const former = named.exposures().find(({ tier }) => tier === 'inbox');
      named.rotateKey(String(former?.id));
      const key = String(former?.text);
      return ['GET', '/v1/me', { key }];
    },
    told: ['named', 'all'],
  },
  'with a key of a tenant, and an id of the sandbox in its path': {
    request: ({ ids }, { keys }) => ['GET', `/v1/webhooks/${ids.webhooks.support}`, { key: keys.acme.tenant }],
    told: ['named', 'all'],
  },
  'with a key of a tenant, and an address of the sandbox in its body alone': {
    request: ({ domain }, { keys }) => [
      'POST',
      '/v1/inboxes',
      { key: keys.acme.tenant, json: { username: `a@${domain}` } },
    ],
    told: ['all'],
  },
  'with a key of the sandbox, which has it among its own requests': {
    request: ({ id, keys }) => ['GET', `/v1/tenants/${id}`, { key: keys.tenant }],
    told: ['all'],
  },
};

test.for(Object.entries(ROWS))('a refused request %s is told to those that it concerns', async ([, row]) => {
  const mailbox = createMailbox();
  const named = mailbox.createSandbox();
  const other = mailbox.createSandbox();
  const all = mailbox.createSandbox({ refusals: 'all' });
  const send = senderTo(mailbox);
  const { status } = await send(...row.request(named, mailbox));
  expect(status).toBeGreaterThanOrEqual(400);
  // A sandbox shows a refusal that is nobody's too, as one of the mailbox.
  const own = (sandbox: Sandbox) => sandbox.journal({ kinds: ['refusal'] }).filter(({ tenantId }) => tenantId !== null);
  const nobodys = mailbox.journal({ kinds: ['refusal'] }).filter(({ tenantId }) => tenantId === null);
  expect({ named: own(named), all: own(all), mailbox: nobodys, other: own(other) }).toMatchObject({
    named: row.told.includes('named') ? [{}] : [],
    all: row.told.includes('all') ? [{}] : [],
    mailbox: row.told.includes('mailbox') ? [{}] : [],
    other: [],
  });
});
