import { createClient } from 'agent-mailbox-mock/client';
import { createAgent } from './agent.ts';
import { serveAgent } from './serve-agent.ts';

const { MAILBOX_BASE_URL: baseUrl = '', MAILBOX_INBOX_KEY: key = '', WEBHOOK_SECRET: secret = '', PORT } = process.env;

const agent = createAgent({ client: createClient({ baseUrl, key }), secret });
serveAgent(agent, Number(PORT)).then(({ url }) => process.stdout.write(`The agent listens at ${url}\n`));
