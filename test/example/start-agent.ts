import { createClient } from 'agent-mailbox-mock/client';
import { createAgent } from './agent.ts';
import { serveAgent } from './serve-agent.ts';

// The variables of a trial of the command evaluate; `exec` sets the first two.
const { MAILBOX_BASE_URL: baseUrl = '', MAILBOX_INBOX_KEY: key = '' } = process.env;
const { MAILBOX_WEBHOOK_SECRET: secret = '', MAILBOX_AGENT_PORT, MAILBOX_DONE_URL } = process.env;

const agent = createAgent({ client: createClient({ baseUrl, key }), secret });

/** Handles an event and, in a trial of the command evaluate, says that it is done, so that nobody waits for a silence. */
async function handle(request: Request): Promise<Response> {
  const response = await agent(request);
  if (MAILBOX_DONE_URL !== undefined) await fetch(MAILBOX_DONE_URL, { method: 'POST' });
  return response;
}

serveAgent(handle, Number(MAILBOX_AGENT_PORT)).then(({ url }) => process.stdout.write(`The agent listens at ${url}\n`));
