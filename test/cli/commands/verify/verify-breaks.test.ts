import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { sendInProcess } from '../../../../src/cli/commands/verify/targets.ts';
import type { Reply, Target } from '../../../../src/cli/commands/verify/verify-session.ts';
import { compareServer, linesWith } from './compare-server.ts';

/** Changes a reply. */
type Break = (answer: Reply) => Reply;

const withBody =
  (change: (body: Reply['body']) => unknown): Break =>
  (answer) => {
    if (answer.status >= 300) return answer;
    const body = change(structuredClone(answer.body)) as object;
    return { ...answer, body, text: JSON.stringify(body) };
  };
const withStatus =
  (status: number): Break =>
  (answer) =>
    answer.status < 300 ? { ...answer, status } : answer;
const without = (name: string) => withBody(({ [name]: _, ...rest }) => rest);
const renamed = (name: string, as: string) => withBody(({ [name]: value, ...rest }) => ({ ...rest, [as]: value }));
const typed = (name: string, value: unknown) => withBody((body) => ({ ...body, [name]: value }));
const inList = (list: string, change: Break): Break =>
  withBody((body) => ({ ...body, [list]: body[list].map((item: object) => change(asAnswer(item)).body) }));
const withHeader =
  (name: string, value: string): Break =>
  (answer) => {
    const headers = new Headers(answer.headers);
    headers.set(name, value);
    return { ...answer, headers };
  };
const allowed: Break = (answer) => (answer.status === 403 ? { ...answer, status: 404 } : answer);
const found: Break = (answer) => (answer.status === 404 ? { ...answer, status: 200 } : answer);
const asAnswer = (body: object): Reply => ({ status: 200, headers: new Headers(), text: '', body });

/** What each proxy breaks: the call, the change, and the finding that names it. Those in a group break together. */
const GROUPS: readonly (readonly (readonly [call: RegExp, change: Break, finding: string])[])[] = [
  [
    [/^POST \/v1\/webhooks$/, withStatus(200), 'createWebhook: reply'],
    [/^GET \/v1\/me$/, without('tier'), 'getMe: reply'],
    [/^PATCH \/v1\/inboxes\/[^/]+$/, typed('updated', 'yes'), 'updateInbox: reply'],
    [/^POST \/v1\/inboxes\/[^/]+\/lists$/, renamed('entryCount', 'count'), 'createList: reply'],
    [/^GET \/v1\/inboxes\/[^/]+\/threads$/, inList('threads', without('messageCount')), 'listThreads: reply'],
    [/^GET \/v1\/metrics$/, withHeader('content-type', 'text/html'), 'getMetrics: reply'],
    [/^POST \/v1\/inboxes\/[^/]+\/drafts$/, typed('subject', 7), 'createDraft: reply'],
    [/^GET \/v1\/inboxes\/[^/]+\/messages\/[^/]+\/raw$/, withStatus(202), 'getRawMessage: reply'],
    [/^POST \/v1\/verify-email$/, without('reason'), 'verifyEmail: reply'],
    [
      /^GET \/v1\/workspaces\/[^/]+\/keys$/,
      inList('keys', typed('key', 'wk_shown_to_everyone')),
      'listWorkspaceKeys: reply',
    ],
    [/^GET \/v1\/webhooks\/[^/]+$/, typed('isActive', 'true'), 'getWebhook: reply'],
    [/^GET \/v1\/workspaces\/[^/]+$/, without('slug'), 'getWorkspace: reply'],
    [/^GET \/v1\/domains\/[^/]+$/, typed('status', 'done'), 'getDomain: reply'],
    [/^GET \/v1\/inboxes\/[^/]+\/drafts\/[^/]+$/, renamed('plainBody', 'text'), 'getDraft: reply'],
    [/^PATCH \/v1\/inboxes\/[^/]+\/drafts\/[^/]+$/, withStatus(201), 'updateDraft: reply'],
    [/^GET \/v1\/inboxes\/[^/]+\/lists\/[^/]+$/, typed('entries', null), 'getList: reply'],
    [/^GET \/v1\/inboxes\/[^/]+\/lists\/[^/]+\/entries\/[^/]+$/, without('email'), 'getListEntry: reply'],
    [/^POST \/v1\/inboxes\/[^/]+\/lists\/[^/]+\/entries$/, typed('metadata', []), 'createListEntry: reply'],
    [/^POST \/v1\/inboxes\/[^/]+\/forward\/[^/]+$/, without('threadId'), 'forwardMessage: reply'],
    [/^POST \/v1\/inboxes\/[^/]+\/reply-all\/[^/]+$/, typed('status', 'queued'), 'replyAllToMessage: reply'],
  ],
  [
    [/^DELETE \/v1\/webhooks\/[^/]+$/, allowed, 'deleteWebhook: tiers'],
    [/^GET \/v1\/domains$/, allowed, 'listDomains: tiers'],
    [/^POST \/v1\/tenants$/, allowed, 'createTenant: tiers'],
    [/^POST \/v1\/workspaces$/, allowed, 'createWorkspace: tiers'],
    [/^POST \/v1\/inboxes$/, allowed, 'createInbox: tiers'],
    [/^GET \/v1\/messages$/, allowed, 'listAllMessages: tiers'],
    [/^DELETE \/v1\/inboxes\/[^/]+\/addresses\/[^/]+$/, allowed, 'deleteInboxAddress: tiers'],
    [/^DELETE \/v1\/tenants\/[^/]+$/, allowed, 'deleteTenant: tiers'],
    [/^DELETE \/v1\/domains\/[^/]+$/, allowed, 'deleteDomain: tiers'],
    [/^POST \/v1\/domains$/, allowed, 'createDomain: tiers'],
    [/^GET \/v1\/inboxes\/[^/]+\/threads\/[^/]+$/, found, 'getThread: isolation from another tenant'],
    [/^GET \/v1\/inboxes\/[^/]+\/lists\/[^/]+\/entries$/, found, 'listListEntries: isolation from another inbox'],
    [/^PATCH \/v1\/webhooks\/[^/]+$/, found, 'updateWebhook: isolation from another workspace'],
    [/^POST \/v1\/inboxes\/[^/]+\/reply\/[^/]+$/, found, 'replyToMessage: isolation from another tenant'],
    [/^PATCH \/v1\/inboxes\/[^/]+\/messages\/[^/]+$/, found, 'updateMessage: isolation from another inbox'],
    [/^GET \/v1\/workspaces\/[^/]+\/keys$/, found, 'listWorkspaceKeys: isolation from another tenant'],
    [/^GET \/v1\/inboxes\/[^/]+\/drafts$/, found, 'listDrafts: isolation from another inbox'],
    [/^DELETE \/v1\/inboxes\/[^/]+\/lists\/[^/]+$/, found, 'deleteList: isolation from another workspace'],
    [
      /^GET \/v1\/inboxes\/[^/]+\/messages\/[^/]+\/attachments$/,
      found,
      'listAttachments: isolation from another inbox',
    ],
    [/^POST \/v1\/inboxes\/[^/]+\/drafts\/[^/]+\/send$/, found, 'sendDraft: isolation from another inbox'],
  ],
];

const operationOf = (line: string) => line.split(':')[0] ?? '';

test.for(GROUPS.map((group, index) => [index === 0 ? 'replies' : 'tiers and isolation', group] as const))(
  'what a server breaks is named, and nothing else differs: %s',
  async ([, group]) => {
    await using server = await startServer({ port: 0 });
    const real = sendInProcess(server.mailbox);
    const send: Target['send'] = async (url, init) => {
      const call = `${init.method} ${new URL(url).pathname}`;
      const answer = await real(url, init);
      return group.filter(([pattern]) => pattern.test(call)).reduce((changed, [, change]) => change(changed), answer);
    };
    const { findings } = await compareServer(server, { send });
    const differing = findings.filter(({ verdict }) => verdict === 'differs').map(({ id }) => id);
    const broken = group.map(([, , finding]) => finding);
    expect(differing).toEqual(expect.arrayContaining(broken));
    expect([...new Set(differing.map(operationOf))].toSorted()).toEqual(
      [...new Set(broken.map(operationOf))].toSorted(),
    );
  },
);

test('a rotation without an effect is named', async () => {
  await using server = await startServer({ port: 0 });
  const { findings } = await compareServer(server, {
    send: async (url, init) => {
      const answer = await sendInProcess(server.mailbox)(url, init);
      const isOldKey = answer.status === 401 && new Headers(init.headers).get('X-API-Key')?.startsWith('ak_');
      return isOldKey ? { ...answer, status: 200 } : answer;
    },
  });
  const lines = linesWith(findings, 'differs').map(operationOf);
  expect(lines).toContain('rotation');
  expect(lines.filter((line) => !['rotation', 'inboxes.delete.kept'].includes(line))).toEqual([]);
});
