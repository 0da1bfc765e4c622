// Lets the conformance suite of the Model Context Protocol judge the tools at `/__mock/mcp`, for which it needs no key.
// The other scenarios of the suite call tools, prompts and resources that a server must have for the suite alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { startServer } from 'agent-mailbox-mock/server';

const SUITE = '../node_modules/@modelcontextprotocol/conformance/dist/index.js';
const SCENARIOS = ['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection'];

const server = await startServer({ port: 0 });
for (const scenario of SCENARIOS) {
  const args = [SUITE, 'server', '--url', `${server.control}/mcp`, '--scenario', scenario];
  const suite = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output, [code]] = await Promise.all([text(suite.stdout), once(suite, 'close')]);
  // The suite also ends with 0 if it has checked nothing.
  if (code !== 0 || !/Passed: ([1-9]\d*)\/\1, 0 failed/.test(output)) throw new Error(`${scenario}: ${output}`);
}
await server.close();
