// Uses the installed package: its entries by `import` and `require`, msw with its handlers, and its command.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { setupServer } from 'msw/node';

const required = createRequire(import.meta.url)('agent-mailbox-mock');
for (const create of [createMailbox, required.createMailbox]) {
  const mailbox = create();
  const interception = setupServer(...mailbox.handlers);
  interception.listen();
  const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
  const { status } = await fetch(`${mailbox.baseUrl}/v1/me`, { headers });
  interception.close();
  if (status !== 200) throw new Error(`The mailbox answers ${status}, and 200 is right.`);
}

const server = await startServer({ port: 0 });
const { status } = await fetch(`${server.url}/health`);
await server.close();
if (status !== 200) throw new Error(`The server answers ${status}, and 200 is right.`);

const version = execFileSync('node_modules/.bin/agent-mailbox-mock', ['--version'], { encoding: 'utf8' });
if (!/^\d+\.\d+\.\d+\n$/.test(version)) throw new Error(`The command says ${version}.`);
