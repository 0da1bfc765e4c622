import { createMailbox } from 'agent-mailbox-mock';
import { atMostTimes, compare, type Row, type Sample, timePerCall } from './measure.ts';
import { createMessagesFixture } from './messages-fixture.ts';

const SMALL = 100;
const LARGE = 50_000;
const PAGE = 50;

/** The requests whose time must not grow with the messages, by the id of the inbox and the offset of the last page. */
const PATHS: Readonly<Record<string, (inboxId: string, offset: number) => string>> = {
  'first page of messages': (inboxId) => `/v1/inboxes/${inboxId}/messages`,
  'last page of messages': (inboxId, offset) => `/v1/inboxes/${inboxId}/messages?offset=${offset}`,
  'first page of threads': (inboxId) => `/v1/inboxes/${inboxId}/threads`,
  'last page of threads': (inboxId, offset) => `/v1/inboxes/${inboxId}/threads?offset=${offset}`,
  'first page of the tenant': () => '/v1/messages',
  'last page of the tenant': (_, offset) => `/v1/messages?offset=${offset}`,
  'first page of the tenant by thread': () => '/v1/messages?group=thread',
  'last page of the tenant by thread': (_, offset) => `/v1/messages?group=thread&offset=${offset}`,
  'folder counts': () => '/v1/messages/folders/counts',
  metrics: () => '/v1/metrics?from=2026-01-01',
};

/** With many messages in an inbox against few, without msw, whose share would hide ours. */
export async function benchManyMessages(): Promise<Row[]> {
  const [large, small] = [LARGE, SMALL].map(createInbox);
  const rows: Row[] = [];
  for (const [name, pathOf] of Object.entries(PATHS)) {
    if (!large || !small) break;
    const comparison = await compare(large(pathOf), small(pathOf), { rounds: 100, warmUp: 30 });
    rows.push(atMostTimes(1.5, `${name}: ${LARGE} messages ÷ ${SMALL}`, comparison));
  }
  return rows;
}

/** An inbox with this many messages, as a function that creates the sample of a request to it. */
function createInbox(count: number) {
  const mailbox = createMailbox({ fixtures: createMessagesFixture(count, 200) });
  const { tenants } = mailbox.snapshot();
  const [inboxId = '', key = ''] = [tenants[0]?.inboxes[0]?.id, tenants[0]?.apiKeys[0]?.key];
  return (pathOf: (inboxId: string, offset: number) => string): Sample => {
    const url = mailbox.baseUrl + pathOf(inboxId, count - PAGE);
    return timePerCall(5, async () => {
      const reply = await mailbox.fetch(new Request(url, { headers: { 'X-API-Key': key } }));
      if (reply.status !== 200) throw new Error(`The reply was ${reply.status}.`);
      return reply.arrayBuffer();
    });
  };
}
