import { createAgent } from './agent.ts';
import { serveAgent } from './serve-agent.ts';

const { MAILBOX_BASE_URL = '', MAILBOX_INBOX_KEY = '', WEBHOOK_SECRET = '', PORT } = process.env;

const agent = createAgent({
  baseUrl: MAILBOX_BASE_URL,
  key: MAILBOX_INBOX_KEY,
  secret: WEBHOOK_SECRET,
});
serveAgent(agent, Number(PORT)).then(({ url }) => process.stdout.write(`The agent listens at ${url}\n`));
