// Starts an application of Next.js in development, with the bundler of this folder, and calls its routes.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const bundler = JSON.parse(await readFile('bundler.json', 'utf8'));
const started = spawn(process.execPath, ['../node_modules/next/dist/bin/next', 'dev', bundler, '--port', '0'], {
  env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const url = await findUrl();
  for (const path of ['/api/mail', '/api/agent']) {
    const reply = await fetch(url + path);
    if (!reply.ok) throw new Error(`${path} answers ${reply.status} under next dev ${bundler}.`);
    const { status } = await reply.json();
    if (status !== 200) throw new Error(`${path} says ${status}, and 200 is right.`);
  }
} finally {
  started.kill();
}

/** Returns the URL that Next.js prints. */
async function findUrl() {
  for await (const line of createInterface(started.stdout)) {
    const [url] = /http:\/\/localhost:\d+/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error('next dev ended.');
}
