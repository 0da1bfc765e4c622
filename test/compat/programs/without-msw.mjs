// Uses the main entry and a server in a project without msw, by `import` and by `require`.
import { createRequire } from 'node:module';
import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';

const ADVICE = 'npm install --save-dev msw';
const required = createRequire(import.meta.url)('agent-mailbox-mock');

for (const create of [createMailbox, required.createMailbox]) {
  const mailbox = create();
  const { status } = await mailbox.fetch(`${mailbox.baseUrl}/v1/me`, {
    headers: { 'X-API-Key': mailbox.keys.acme.tenant },
  });
  if (status !== 200) throw new Error(`The mailbox answers ${status}, and 200 is right.`);
  const message = messageOf(() => mailbox.handlers);
  if (!message.includes(ADVICE)) throw new Error(`Without msw, handlers say: ${message}`);
}

const server = await startServer({ port: 0 });
const { status } = await fetch(`${server.url}/health`);
await server.close();
if (status !== 200) throw new Error(`The server answers ${status}, and 200 is right.`);

function messageOf(run) {
  try {
    run();
    return 'no error';
  } catch (error) {
    return error.message;
  }
}
