import type { Mailbox } from 'agent-mailbox-mock';
import { OPERATIONS, type OperationId } from '../../../src/contract/operations/index.ts';
import { IDS } from '../../support/ids.ts';

/** Sends a request: `fetch`, or what stands in for it. */
export type Send = (url: string, init: RequestInit) => Promise<Response>;

/** One call and what it was answered. */
export interface Step {
  readonly operation: OperationId;
  readonly status: number;
  readonly headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: the steps look into replies of every shape.
  readonly body: any;
}

interface CallOptions {
  readonly key?: string;
  readonly params?: Record<string, string>;
  readonly json?: unknown;
}

/** Calls every operation of the table at least once, and goes on to use what came out of it. */
export async function driveEveryOperation(
  { baseUrl, keys }: Pick<Mailbox, 'baseUrl' | 'keys'>,
  send: Send,
): Promise<Step[]> {
  const steps: Step[] = [];

  async function call(operation: OperationId, { key, params = {}, json }: CallOptions = {}): Promise<Step['body']> {
    const { method, path } = OPERATIONS[operation];
    const url = baseUrl + path.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? '');
    const response = await send(url, {
      method,
      headers: { ...(key && { 'X-API-Key': key }), ...(json !== undefined && { 'Content-Type': 'application/json' }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const body = await response.json();
    steps.push({ operation, status: response.status, headers: Object.fromEntries(response.headers), body });
    return body;
  }

  await call('getHealth');

  const tenant = keys.acme.tenant;
  await call('listWebhooks', { key: tenant });
  const json = { url: 'https://agent.example/hook', events: ['message.received'] };
  const webhook = await call('createWebhook', { key: tenant, json });
  await call('listWebhooks', { key: tenant });
  await call('deleteWebhook', { key: tenant, params: { id: webhook.id } });
  await call('deleteWebhook', { key: tenant, params: { id: webhook.id } });

  const helpdesk = { id: IDS.acme.inboxes.helpdesk };
  const rotated = await call('rotateInboxKey', { key: tenant, params: helpdesk });
  await call('rotateInboxKey', { key: keys.acme.inboxes.helpdesk, params: helpdesk });
  await call('rotateInboxKey', { key: rotated.key, params: helpdesk });

  const support = { id: IDS.acme.workspaces.support };
  const created = await call('createWorkspaceKey', { key: tenant, params: support, json: { name: 'from a page' } });
  await call('listWorkspaceKeys', { key: created.key, params: support });
  await call('deleteWorkspaceKey', { key: tenant, params: { ...support, key_id: created.id } });
  await call('listWebhooks', { key: created.key });

  const fresh = await call('createTenant', { key: keys.operator, json: { name: 'Initech' } });
  await call('listWebhooks', { key: fresh.apiKey });
  await call('deleteTenant', { key: keys.operator, params: { id: fresh.id } });
  await call('listWebhooks', { key: fresh.apiKey });

  return steps;
}
