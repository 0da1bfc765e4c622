import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { DIST } from '../support/dist.ts';

/** What the command prints with `--json`. */
interface Ready {
  readonly url: string;
  readonly control: string;
  readonly keys: Readonly<Record<'tenant' | 'workspace' | 'inbox', string>>;
  readonly ids: Readonly<
    Record<string, { workspaces: Readonly<Record<string, string>>; inboxes: Readonly<Record<string, string>> }>
  >;
  readonly smtp: { readonly port: number };
  readonly imap: { readonly port: number };
}

/** A sample of the memory that the emulator uses, in bytes, and of its processor time, in microseconds. */
export interface Sample {
  /** The number of the process, from 0. */
  readonly life: number;
  /** How long this process has run, in milliseconds. */
  readonly ageMs: number;
  readonly rss: number;
  /** What is left in the heap after a full collection. */
  readonly heap: number;
  readonly external: number;
  readonly cpu: number;
}

/** A module that the emulator loads, which writes a line for each sample. A full collection shows what is held. */
const SAMPLER = `
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
setInterval(() => {
  collect();
  const { rss, heapUsed: heap, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const sample = { life: Number(process.env.SOAK_LIFE), ageMs: performance.now(), rss, heap, external, cpu: user + system };
  appendFileSync(process.env.SOAK_SAMPLES, JSON.stringify(sample) + '\\n');
}, Number(process.env.SOAK_SAMPLE_MS)).unref();`;

/** The built command, as a process that can be killed and started again with the same file. */
export class Emulator {
  readonly #folder: string;
  readonly #sampleMs: number;
  #child: ChildProcess | undefined;
  #ready: Ready | undefined;
  #life = -1;
  /** What each process wrote to stderr. */
  readonly errors: string[] = [];
  /** How long each start took, in milliseconds. */
  readonly startsMs: number[] = [];
  /** When the process was killed; undefined while it runs. */
  killedMs: number | undefined;
  /** When a process was killed last. */
  lastKillMs = 0;

  constructor(folder: string, sampleMs: number) {
    this.#folder = folder;
    this.#sampleMs = sampleMs;
  }

  get ready(): Ready {
    if (!this.#ready) throw new Error('The emulator was not started.');
    return this.#ready;
  }

  get life(): number {
    return this.#life;
  }

  async start(): Promise<void> {
    this.#life += 1;
    const startedMs = performance.now();
    const args = ['--json', '--quiet', '--port', '0', '--smtp-port', '0', '--imap-port', '0'];
    const files = ['--state', join(this.#folder, 'state.json'), '--loop-limit', '100000'];
    const child = spawn(process.execPath, [join(DIST, 'main.cjs'), ...args, ...files], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        NODE_OPTIONS: `--max-old-space-size=256 --import=data:text/javascript,${encodeURIComponent(SAMPLER)}`,
        SOAK_LIFE: String(this.#life),
        SOAK_SAMPLES: this.#samplesFile,
        SOAK_SAMPLE_MS: String(this.#sampleMs),
      },
    });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.errors.push(text));
    const line = await Promise.race([
      once(createInterface(child.stdout), 'line').then(String),
      once(child, 'exit').then(([code, signal]) => {
        throw new Error(`The emulator ended with ${code ?? signal}: ${this.errors.slice(-3).join('')}`);
      }),
    ]);
    this.#ready = JSON.parse(line);
    this.killedMs = undefined;
    this.startsMs.push(performance.now() - startedMs);
  }

  /** Whether the process has ended although nobody has killed it. */
  get hasCrashed(): boolean {
    return this.killedMs === undefined && (this.#child?.exitCode ?? this.#child?.signalCode ?? null) !== null;
  }

  /** Kills the process by SIGKILL, and waits for its end. */
  async kill(): Promise<void> {
    this.killedMs = performance.now();
    this.lastKillMs = this.killedMs;
    this.#child?.kill('SIGKILL');
    await this.#ended();
  }

  /** Ends the process by SIGTERM, and returns its exit code. */
  async end(): Promise<number | null> {
    this.killedMs = performance.now();
    this.#child?.kill('SIGTERM');
    await this.#ended();
    return this.#child?.exitCode ?? null;
  }

  async #ended(): Promise<void> {
    while (this.#child && this.#child.exitCode === null && this.#child.signalCode === null) await setTimeout(5);
  }

  get #samplesFile(): string {
    return join(this.#folder, 'samples');
  }

  samples(): Sample[] {
    const text = existsSync(this.#samplesFile) ? readFileSync(this.#samplesFile, 'utf8') : '';
    // A process that is killed while it writes leaves an incomplete line.
    const lines = text.split('\n').filter((line) => line.endsWith('}'));
    return lines.map((line) => JSON.parse(line));
  }
}
