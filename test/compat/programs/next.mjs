// Builds an application of Next.js in this folder, starts it and calls its routes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const next = (...args) =>
  spawn(process.execPath, ['../node_modules/next/dist/bin/next', ...args], {
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });

const build = next('build');
let printed = '';
build.stdout.on('data', (chunk) => {
  printed += chunk;
});
const [code] = await once(build, 'close');
if (code !== 0 || /warn/i.test(printed)) throw new Error(`next build ended with ${code}.\n${printed}`);

const started = next('start', '--port', '0');
try {
  for (const path of ['/api/mail', '/api/agent']) {
    const reply = await fetch((await findUrl(started)) + path);
    const { status } = await reply.json();
    if (status !== 200) throw new Error(`${path} says ${status}, and 200 is right.`);
  }
} finally {
  started.kill();
}

/** Returns the URL that Next.js prints. */
async function findUrl(child) {
  child.url ??= (async () => {
    for await (const line of createInterface(child.stdout)) {
      const [url] = /http:\/\/localhost:\d+/.exec(line) ?? [];
      if (url) return url;
    }
    throw new Error('next start ended.');
  })();
  return child.url;
}
