// Checks the documents of the package by tools that it does not have: AsyncAPI's parser, and the generators hey-api and
// orval, whose clients must compile, have the names of the resources, and call a server.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { startServer } from 'agent-mailbox-mock/server';

const { Parser } = createRequire(import.meta.url)('@asyncapi/parser');
const NAMES = ['Webhook', 'Inbox', 'Message', 'Thread', 'Draft', 'List', 'Domain', 'Workspace', 'Tenant'];

const server = await startServer({ port: 0 });
const read = async (path) => (await fetch(`${server.control}${path}`)).json();

const { document, diagnostics } = await new Parser().parse(JSON.stringify(await read('/asyncapi.json')));
const errors = diagnostics.filter(({ severity }) => severity === 0);
if (!document || errors.length > 0) throw new Error(`asyncapi.json: ${JSON.stringify(errors)}`);

writeFileSync('openapi.json', JSON.stringify(await read('/openapi.json')));
writeFileSync(
  'orval.config.mjs',
  "export default { api: { input: 'openapi.json', output: { target: 'orval/client.ts', client: 'fetch' } } };",
);
// Before the generators, which look for one in the folders above, too.
const COMPILER = {
  module: 'commonjs',
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  strict: true,
  types: [],
};
const compilerOptions = { ...COMPILER, outDir: 'compiled', moduleResolution: 'node10', skipLibCheck: true };
writeFileSync('tsconfig.json', JSON.stringify({ compilerOptions, files: ['calls.ts'] }));
const run = (...args) => execFileSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
run('../node_modules/@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'hey-api');
run('../node_modules/orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs');

const missing = ['hey-api/types.gen.ts', 'orval/client.ts'].flatMap((file) => {
  const text = readFileSync(file, 'utf8');
  return NAMES.filter((name) => !new RegExp(`export (?:type|interface) ${name}\\b`).test(text)).map(
    (name) => `${file}: ${name}`,
  );
});
if (missing.length > 0) throw new Error(`Not generated: ${missing.join(', ')}`);

writeFileSync(
  'calls.ts',
  `import { client } from './hey-api/client.gen';
  import { listWebhooks as byHeyApi } from './hey-api/sdk.gen';
  import type { Webhook } from './hey-api/types.gen';
  import { getListWebhooksUrl, type listWebhooksResponse } from './orval/client';

  export async function countWebhooks(baseUrl: string, key: string): Promise<number[]> {
    client.setConfig({ baseUrl });
    const { data } = await byHeyApi({ headers: { 'X-API-Key': key } });
    const webhooks: Webhook[] = data?.webhooks ?? [];
    const reply = await fetch(baseUrl + getListWebhooksUrl(), { headers: { 'X-API-Key': key } });
    const body = (await reply.json()) as Extract<listWebhooksResponse, { status: 200 }>['data'];
    return [webhooks.length, body.webhooks.length];
  }`,
);
writeFileSync('package.json', '{ "private": true }');
try {
  run('../node_modules/typescript/bin/tsc', '-p', '.');
} catch (error) {
  throw new Error(String(error.stdout));
}
const { countWebhooks } = createRequire(import.meta.url)('./compiled/calls.js');
const counts = await countWebhooks(server.url, 'tk_acme_tenant_key');
if (String(counts) !== '2,2') throw new Error(`The clients found ${counts} webhooks, and 2,2 is right.`);
await server.close();
