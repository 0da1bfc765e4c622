import { BEHAVIOURS, createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { CHANGEABLE_IDS, type ChangeableId, changeableDefinition } from '../../src/contract/behaviours.ts';
import { OPERATION_IDS, OPERATIONS } from '../../src/contract/operations.ts';
import { CALLS } from '../support/openapi-examples.ts';

/** A request, which is sent to the mailbox in its state at the start. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const TENANT = 'tk_acme_tenant_key';
const NOBODY = '00000000-0000-4000-8000-000000000000';
const GLOBEX = '910be000-0003-4000-8000-000000000001';

/** The successful call of each operation. */
const CALLED = OPERATION_IDS.map((id): Sent => {
  const { method, path }: { readonly method: string; readonly path: string } = OPERATIONS[id];
  const { params = {}, body, key = TENANT, query = '' } = CALLS[id] ?? {};
  const filled = Object.entries(params).reduce((text, [name, value]) => text.replace(`{${name}}`, value), path);
  const request = { method, path: filled + query, key, headers: { 'content-type': 'application/json' } };
  return body === undefined ? request : { ...request, body: JSON.stringify(body) };
});

/** Ways to send a call wrongly, or otherwise unusually. */
const WAYS: Readonly<Record<string, (sent: Sent) => Sent>> = {
  'without a key': (sent) => ({ ...sent, key: undefined }),
  'with an unknown key': (sent) => ({ ...sent, key: 'tk_unknown_tenant_key' }),
  'with the key of a workspace': (sent) => ({ ...sent, key: 'wk_acme_sales_key' }),
  'with the key of an inbox': (sent) => ({ ...sent, key: 'ak_acme_billing_key' }),
  'with the key of the operator': (sent) => ({ ...sent, key: 'sa_platform_operator_key' }),
  'with an id that nobody has': (sent) => ({ ...sent, path: sent.path.replace(/ac3e[0-9a-f-]{32}/, NOBODY) }),
  'with an id of another tenant': (sent) => ({ ...sent, path: sent.path.replace(/ac3e[0-9a-f-]{32}/, GLOBEX) }),
  'with an id that is none': (sent) => ({ ...sent, path: sent.path.replace(/ac3e[0-9a-f-]{32}/, 'none') }),
  'with a slash at the end': (sent) => ({ ...sent, path: sent.path.replace(/(?=\?|$)/, '/') }),
  'to a path that does not exist': (sent) => ({ ...sent, path: `${sent.path.split('?')[0]}/nothing` }),
  'with another method': (sent) => ({ ...sent, method: 'PUT' }),
  'with OPTIONS': (sent) => ({ ...sent, method: 'OPTIONS' }),
  'with a wrong query': (sent) => ({ ...sent, path: `${sent.path.split('?')[0]}?direction=up&folder=none&limit=1` }),
  'with a limit that is too high': (sent) => ({ ...sent, path: `${sent.path.split('?')[0]}?limit=500` }),
  'with an unknown field': (sent) => ({ ...sent, body: JSON.stringify({ ...JSON.parse(sent.body ?? '{}'), odd: 1 }) }),
  'with a wrong type of body': (sent) => ({ ...sent, headers: { 'content-type': 'text/plain' } }),
  'with two keys': (sent) => ({ ...sent, headers: { ...sent.headers, authorization: 'Bearer wk_acme_sales_key' } }),
};

/** What a request leads to: the reply without the list of behaviours, and the state after it. */
async function outcomeOf(mailbox: Mailbox, { method, path, key, headers, body }: Sent) {
  const init: RequestInit = { method, headers: { ...headers, ...(key !== undefined && { 'x-api-key': key }) } };
  if (body !== undefined && method !== 'GET') init.body = body;
  const response = await mailbox.fetch(mailbox.baseUrl + path, init);
  const named = response.headers.get('x-mock-assumed')?.split(', ') ?? [];
  const shown = [...response.headers].filter(([name]) => name !== 'x-mock-assumed');
  const reply = JSON.stringify([response.status, shown, await response.text()]);
  return { named, reply, state: () => JSON.stringify(mailbox.snapshot()) };
}

/** Whether the behaviours of this area can affect a reply over HTTP, so that it is worth to try them. */
const isTried = (id: ChangeableId) => !/^(?:deliveries|stream|imap|submission)\./.test(id);

describe('the behaviours that a reply names', () => {
  /** Returns the behaviours that a reply names wrongly, and those that it fails to name. */
  async function findWrong(mailbox: Mailbox, sent: Sent): Promise<string[]> {
    const begin = (id?: ChangeableId, value?: string) => {
      mailbox.reset();
      mailbox.clock.freeze('2026-03-01T09:00:00Z');
      if (id !== undefined) mailbox.changeBehaviours({ [id]: value } as never);
    };
    begin();
    const usual = await outcomeOf(mailbox, sent);
    const usualState = usual.state();
    const wrong: string[] = [];
    for (const id of CHANGEABLE_IDS.filter(isTried)) {
      const isNamed = usual.named.includes(id) || BEHAVIOURS[id].origin === 'document';
      let [changesReply, changesState] = [false, false];
      for (const value of Object.keys(changeableDefinition(id).choices)) {
        if (value === changeableDefinition(id).default) continue;
        begin(id, value);
        const other = await outcomeOf(mailbox, sent);
        changesReply ||= other.reply !== usual.reply;
        if (isNamed && !changesReply) changesState ||= other.state() !== usualState;
      }
      if (changesReply && !isNamed) wrong.push(`${sent.method} ${sent.path} does not name ${id}`);
      if (isNamed && !changesReply && !changesState && BEHAVIOURS[id].origin !== 'document')
        wrong.push(`${sent.method} ${sent.path} names ${id}`);
    }
    return wrong;
  }

  test('of each operation are those that decide its reply', async () => {
    const mailbox = createMailbox({ seed: 7 });
    const wrong: string[] = [];
    for (const sent of CALLED) wrong.push(...(await findWrong(mailbox, sent)));
    expect(wrong).toEqual([]);
  });

  for (const [way, change] of Object.entries(WAYS)) {
    test(`of some operations ${way} are those that decide the reply`, async () => {
      const mailbox = createMailbox({ seed: 7 });
      const wrong: string[] = [];
      for (const sent of CALLED.filter((_, index) => index % 6 === 1))
        wrong.push(...(await findWrong(mailbox, change(sent))));
      expect(wrong).toEqual([]);
    });
  }
});
