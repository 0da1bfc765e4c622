import { createMailbox } from 'agent-mailbox-mock';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { atMostTimes, compare, type Row, type Sample, timePerCall } from './measure.ts';

const mailbox = createMailbox();
const server = setupServer();

/** In process: `listWebhooks` against one hand-written handler that returns the same bytes. */
export async function benchInProcess(): Promise<Row[]> {
  server.listen({ onUnhandledRequest: 'error' });
  try {
    const handler = await copyAsStatic();
    const ours = sampleList(`${mailbox.baseUrl}/v1/webhooks`, () => server.resetHandlers(...mailbox.handlers));
    const theirs = sampleList('https://static.test/v1/webhooks', () => server.resetHandlers(handler));
    const comparison = await compare(ours, theirs, { rounds: 250, warmUp: 50 });
    return [atMostTimes(1.1, 'in process: listWebhooks ÷ a static handler', comparison)];
  } finally {
    server.close();
  }
}

/** Each side has only its own handlers, as its user would; putting them in place is not timed. */
function sampleList(url: string, putHandlers: () => void): Sample {
  const sample = timePerCall(20, () => list(url).then((response) => response.arrayBuffer()));
  return () => {
    putHandlers();
    return sample();
  };
}

function list(url: string): Promise<Response> {
  return fetch(url, { headers: { 'X-API-Key': mailbox.keys.acme.tenant } });
}

async function copyAsStatic() {
  server.use(...mailbox.handlers);
  const reply = await list(`${mailbox.baseUrl}/v1/webhooks`);
  const headers = [...reply.headers];
  const bytes = await reply.arrayBuffer();
  return http.get('https://static.test/v1/webhooks', () => new HttpResponse(bytes, { headers }));
}
