import { createMailbox } from 'agent-mailbox-mock';
import { atMostTimes, compare, type Row, type Sample } from './measure.ts';
import { createFixture } from './sized-fixture.ts';

const SMALL = 10;
const LARGE = 10_000;
const CALLS = 10;

/** Some requests that are timed, with what puts the state in place before and back after them. */
interface Turn {
  /** What each of them must answer. */
  readonly status: number;
  prepare(): Promise<Request[]>;
  tidy?(replies: readonly Response[]): Promise<unknown>;
}

type Tenant = ReturnType<typeof createTenant>;

/** The requests whose time must not grow with the tenant. */
const TURNS: Record<string, (tenant: Tenant) => Turn> = {
  createWebhook: ({ creations, deletions, send }) => ({
    status: 201,
    prepare: async () => creations(),
    tidy: async (created) => send(await deletions(created)),
  }),
  deleteWebhook: ({ creations, deletions, send }) => ({
    status: 200,
    prepare: async () => deletions(await send(creations())),
  }),
  rotateInboxKey: ({ rotations }) => ({ status: 201, prepare: async () => rotations() }),
  'unknown key refused': ({ refusals }) => ({ status: 401, prepare: async () => refusals() }),
};

/** With many webhooks and keys in the tenant against few, without msw, whose share would hide ours. */
export async function benchBySize(): Promise<Row[]> {
  const large = createTenant(LARGE);
  const small = createTenant(SMALL);
  const rows: Row[] = [];
  for (const [name, turn] of Object.entries(TURNS)) {
    const rounds = { rounds: 600, warmUp: 100 };
    const comparison = await compare(sample(large, turn(large)), sample(small, turn(small)), rounds);
    rows.push(atMostTimes(1.3, `${name}: ${LARGE} webhooks and keys ÷ ${SMALL}`, comparison));
  }
  return rows;
}

/** Samples the microseconds from a request to its reply. */
function sample({ send }: Tenant, { status, prepare, tidy }: Turn): Sample {
  return async () => {
    const requests = await prepare();
    const startedAt = performance.now();
    const replies = await send(requests);
    const elapsedUs = (performance.now() - startedAt) * 1000;
    for (const reply of replies) if (reply.status !== status) throw new Error(`A reply was ${reply.status}.`);
    await tidy?.(replies);
    return elapsedUs / CALLS;
  };
}

/** A tenant with this many webhooks and keys, and the requests to it. */
function createTenant(size: number) {
  const { fixture, inboxIds, tenantKey } = createFixture(size);
  const mailbox = createMailbox({ fixtures: fixture });
  /** As many in every tenant, so that only the size of the tenant differs and not how many rows are touched. */
  const rotatedIds = inboxIds.filter((_, index) => index % (size / CALLS) === 0);
  const webhook = { url: 'https://receiver.test/hook', events: ['message.received'] };

  const request = (method: string, path: string, { key = tenantKey, json }: { key?: string; json?: unknown } = {}) =>
    new Request(`${mailbox.baseUrl}${path}`, {
      method,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: json === undefined ? null : JSON.stringify(json),
    });
  const several = (create: () => Request) => Array.from({ length: CALLS }, create);

  return {
    creations: () => several(() => request('POST', '/v1/webhooks', { json: webhook })),
    deletions: async (created: readonly Response[]) => {
      const bodies = await Promise.all(created.map((reply) => reply.json()));
      return bodies.map(({ id }) => request('DELETE', `/v1/webhooks/${id}`));
    },
    rotations: () => rotatedIds.map((id) => request('POST', `/v1/inboxes/${id}/keys`)),
    refusals: () => several(() => request('GET', '/v1/webhooks', { key: 'tk_nobody_has_this_key' })),
    async send(requests: readonly Request[]): Promise<Response[]> {
      const replies: Response[] = [];
      for (const each of requests) replies.push(await mailbox.fetch(each));
      return replies;
    },
  };
}
