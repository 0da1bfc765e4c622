import type { BehaviourOptions } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import { everywhere, interceptRequests, type SendOptions } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

interface Case {
  readonly line: string;
  readonly options?: (key: string) => SendOptions;
  readonly behaviours?: BehaviourOptions;
  readonly status: number;
}

const KEYED = (key: string) => ({ key });
const HOOK = JSON.stringify({ url: 'https://agent.example/hook', events: ['message.received'] });
const ROTATE = `POST /v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`;

/** What the emulator takes although its OpenAPI document does not show it. */
const CASES: Record<string, Case> = {
  HEAD: { line: 'HEAD /health', status: 200 },
  OPTIONS: { line: 'OPTIONS /health', status: 204 },
  'a bearer scheme in lower case': {
    line: 'GET /v1/webhooks',
    options: (key) => ({ headers: { Authorization: `bearer ${key}` } }),
    status: 200,
  },
  'a slash behind a path, where it is ignored': {
    line: 'GET /v1/webhooks/',
    options: KEYED,
    behaviours: { 'requests.trailing-slash': 'ignored' },
    status: 200,
  },
  'JSON that is declared as text': {
    line: 'POST /v1/webhooks',
    options: (key) => ({ key, body: HOOK, headers: { 'Content-Type': 'text/plain' } }),
    status: 201,
  },
  'a query parameter that is repeated': { line: 'GET /v1/messages?limit=1&limit=no', options: KEYED, status: 200 },
  'a query parameter of another case': { line: 'GET /v1/messages?Limit=0', options: KEYED, status: 200 },
  'a domain in Unicode': {
    line: 'POST /v1/domains',
    options: (key) => ({ key, json: { domain: 'münchen.example', workspaceId: IDS.acme.workspaces.support } }),
    status: 201,
  },
  'an object where no body is needed': { line: ROTATE, options: (key) => ({ key, json: { any: 1 } }), status: 201 },
};

for (const [title, { line, options, behaviours = {}, status }] of Object.entries(CASES)) {
  everywhere(`${title} is taken`, { behaviours }, async ({ send, mailbox }) => {
    const [method = '', path = ''] = line.split(' ');
    expect((await send(method, path, options?.(mailbox.keys.acme.tenant))).status).toBe(status);
  });
}
