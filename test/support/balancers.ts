import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { createControlClient } from '../../src/control/table/client.ts';
import { runHere } from './command.ts';
import { makeFolder } from './folder.ts';
import { type Running, run, runCommand } from './processes.ts';

/** How a balancer is installed, how its configuration is checked, and how it runs. */
interface Balancer {
  readonly program: string;
  readonly howToGet: string;
  check(file: string): string[];
  run(file: string): string[];
  /** Changes a configuration so that it runs in a folder, and only on this machine. */
  confine(config: string, folder: string): string;
}

export const BALANCERS = {
  nginx: {
    program: 'nginx',
    howToGet: 'Needs nginx: apt-get install nginx-light.',
    check: (file) => ['-t', '-q', '-c', file],
    run: (file) => ['-c', file, '-g', `daemon off; pid ${file}.pid;`],
    confine: (config, folder) =>
      config
        .replace(/listen (\d+);/, 'listen 127.0.0.1:$1;')
        .replace(
          'access_log off;',
          ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
            .map((name) => `${name}_temp_path ${folder}/${name};`)
            .join(' '),
        )
        .replace('http {', 'http {\n  access_log off;'),
  },
  haproxy: {
    program: 'haproxy',
    howToGet: 'Needs HAProxy: apt-get install haproxy.',
    check: (file) => ['-c', '-q', '-f', file],
    run: (file) => ['-db', '-f', file],
    confine: (config) => config.replace(/bind :(\d+)/, 'bind 127.0.0.1:$1'),
  },
} as const satisfies Record<string, Balancer>;

/** One process of a fleet. */
interface FleetProcess {
  readonly port: number;
  running: Running;
}

export const TOKEN = 'a-token-of-the-fleet';

/** Starts processes behind a balancer. Skips the test, except in CI, where the balancer is not installed. */
export async function startFleet(test: TestContext, name: keyof typeof BALANCERS, count: number) {
  const balancer: Balancer = BALANCERS[name];
  if (spawnSync(balancer.program, ['-v']).error) {
    if (process.env.CI) throw new Error(balancer.howToGet);
    test.skip(balancer.howToGet);
  }
  const folder = await makeFolder(test);
  const url = `http://127.0.0.1:${await freePort()}`;
  const start = async (number: number, port: number): Promise<FleetProcess> => {
    const own = [
      '--port',
      String(port),
      '--public-url',
      `${url}/s${number}`,
      '--state',
      join(folder, `s${number}.json`),
    ];
    const running = runCommand(test, [...own, '--json', '--token', TOKEN, '--drain', '200ms']);
    return { running, port: JSON.parse(await running.untilStdout(/\n/)).port };
  };
  const processes = await Promise.all(Array.from({ length: count }, (_, index) => start(index + 1, 0)));
  const servers = processes.map(({ port }) => `http://127.0.0.1:${port}`).join();
  const { out } = await runHere(['fleet', name, '--servers', servers, '--public-url', url]);
  const file = join(folder, name);
  await writeFile(file, `${balancer.confine(out.join('\n'), folder)}\n`);
  const checked = spawnSync(balancer.program, balancer.check(file), { encoding: 'utf8' });
  if (checked.status !== 0) throw new Error(checked.stderr + checked.stdout);
  // The workers of nginx outlive it when it is killed.
  run(test, [balancer.program, ...balancer.run(file)], { isGroup: true });
  return {
    url,
    processes,
    /** Starts a process again, with its port and its state. */
    async restart(number: number) {
      const { port } = processes[number - 1] as FleetProcess;
      processes[number - 1] = await start(number, port);
    },
    control: (at: string, sandbox?: string) => createControlClient({ control: `${at}/__mock`, token: TOKEN, sandbox }),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
