import { setTimeout } from 'node:timers/promises';
import { Clients, INBOXES } from './clients.ts';
import { Emulator } from './emulator.ts';
import { BusyError, Facts, KilledError } from './facts.ts';
import { readFound } from './found.ts';
import { LOADS, type Load, type Scene } from './loads.ts';
import { judgeMemory } from './memory.ts';
import { startReceiver } from './receiver.ts';

/** How long before its end a process may have acknowledged what is lost with it. */
const MAY_BE_LOST_MS = 1_000;

/** How long an event of a WebSocket may take. */
const EVENT_MS = 15_000;

/** How many inputs may be under way. */
const MAX_RUNNING = 24;

/** How many problems of a kind are printed. */
const SHOWN = 20;

export interface SoakOptions {
  /** A folder for the files of the run. */
  readonly folder: string;
  readonly durationMs: number;
  readonly killEveryMs: number;
  /** How many inputs are sent each second. */
  readonly rate: number;
  readonly print: (line: string) => void;
}

/**
 * Drives an emulator with mixed load, kills it again and again, and checks after each start that everything that was
 * acknowledged is there. Prints what it did, and returns whether nothing was lost, nothing failed, and the memory is
 * flat.
 */
export async function soak({ folder, durationMs, killEveryMs, rate, print }: SoakOptions): Promise<boolean> {
  const problems: string[] = [];
  const losses: string[] = [];
  const counts = new Map<string, number>();
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  const report = (problem: string) => {
    problems.push(problem);
    if (problems.length <= SHOWN) print(`problem: ${problem}`);
  };

  const receiver = await startReceiver(report);
  const emulator = new Emulator(folder, Math.max(1_000, Math.min(10_000, killEveryMs / 10)));
  const seen = new Set<string>();
  /** When each mail was acknowledged that the permanent webhook must get. */
  const toDeliver = new Map<string, number>();
  const connect = async () => {
    const clients = new Clients(emulator);
    await clients.open(
      (subject) => {
        seen.add(subject);
        count('events of WebSockets');
      },
      () => count('events of the feed'),
    );
    return clients;
  };
  await emulator.start();
  const scene: Scene = {
    facts: new Facts(),
    clients: await connect(),
    keys: new Map(),
    ids: new Map(),
    receiverUrl: receiver.url,
    secrets: receiver.secrets,
    expectEvent(subject) {
      const { clients } = scene;
      void setTimeout(EVENT_MS, undefined, { ref: false }).then(() => {
        if (!seen.delete(subject) && !clients.isOver) report(`No event of ${subject} on a WebSocket`);
      });
    },
    expectDelivery: (subject) => void toDeliver.set(subject, performance.now()),
  };
  await prepare(scene, receiver.url);

  let isOpen = true;
  const running = new Set<Promise<void>>();
  const runLoad = async (name: string, load: Load) => {
    try {
      await load.run(scene);
      count(`${load.protocol}: ${name}`);
    } catch (error) {
      if (error instanceof KilledError) count('inputs without a reply, because of kill -9');
      else if (!(error instanceof BusyError)) report(`${name}: ${describe(error as Error)}`);
    }
  };
  const choose = createChoice();
  const timer = setInterval(() => {
    if (!isOpen || emulator.killedMs !== undefined) return;
    if (running.size >= MAX_RUNNING) return void count('inputs left out, because too many were under way');
    const input = runLoad(...choose()).finally(() => running.delete(input));
    running.add(input);
  }, 1_000 / rate);

  /** Compares what the emulator has with what it has acknowledged before a time. */
  const compare = async (untilMs: number) => {
    const found = await readFound(scene.clients, scene.ids);
    for (const { name, expected, found: actual, ageMs = 0 } of scene.facts.compare(found, untilMs)) {
      losses.push(name);
      if (losses.length <= SHOWN) {
        const age = ((ageMs + MAY_BE_LOST_MS) / 1_000).toFixed(1);
        print(`lost: ${name} is ${actual}, not ${expected.join(' or ')}, acknowledged ${age} s before`);
      }
    }
    for (const [subject, ackedMs] of toDeliver) if (ackedMs >= untilMs) toDeliver.delete(subject);
    await checkKeys(scene, report);
  };

  const startedMs = performance.now();
  const restart = async (untilMs: number) => {
    scene.clients.close();
    await emulator.start();
    scene.clients = await connect();
    await compare(untilMs);
  };
  while (performance.now() - startedMs < durationMs) {
    await setTimeout(Math.min(killEveryMs, durationMs - (performance.now() - startedMs)));
    if (emulator.hasCrashed) {
      report(`The emulator has ended: ${emulator.errors.slice(-3).join('')}`);
      break;
    }
    isOpen = false;
    await emulator.kill();
    await Promise.all(running);
    await restart(emulator.lastKillMs - MAY_BE_LOST_MS);
    const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
    const inputs = [...counts.values()].reduce((sum, each) => sum + each, 0);
    print(
      `${minutes} min: ${inputs} inputs, ${emulator.life} kills, ${losses.length} losses, ${problems.length} problems`,
    );
    isOpen = true;
  }
  clearInterval(timer);
  await Promise.all(running);

  // Without a kill, nothing may be lost, and each delivery arrives in the end.
  await compare(performance.now());
  for (let round = 0; round < 12; round += 1) {
    await scene.clients.control.settle({ timeout: '5m' });
    await scene.clients.control.changeClock({ advance: '12h' });
  }
  const undelivered = [...toDeliver.keys()].filter((subject) => !receiver.hasAccepted('/always', subject));
  for (const subject of undelivered) report(`The webhook did not get ${subject}`);
  const settled = await readFound(scene.clients, scene.ids);
  scene.facts.compare(settled, performance.now());
  const code = await emulator.end();
  if (code !== 0) report(`After SIGTERM, the exit code is ${code}`);
  await restart(performance.now());
  const memory = judgeMemory(emulator.samples());
  scene.clients.close();
  await emulator.end();
  receiver.close();

  for (const [name, number] of [...counts].sort()) print(`${String(number).padStart(9)}  ${name}`);
  print(`${String(receiver.attempts).padStart(9)}  webhooks: attempts of deliveries`);
  print(`${String(scene.facts.compared).padStart(9)}  values compared, in ${emulator.life} restarts`);
  const starts = emulator.startsMs.map((ms) => Math.round(ms)).sort((one, other) => one - other);
  print(`starts took ${starts[0]} to ${starts.at(-1)} ms, ${starts[Math.floor(starts.length / 2)]} ms in the middle`);
  for (const line of memory.lines) print(line);
  const errors = emulator.errors.join('').trim();
  if (errors !== '') report(`The emulator wrote to stderr: ${errors.slice(0, 2_000)}`);
  print(`${losses.length} losses, ${problems.length} problems, memory ${memory.isFlat ? 'flat' : 'GROWS'}`);
  return losses.length === 0 && problems.length === 0 && memory.isFlat;
}

/** Removes the webhooks of the fixture, whose URLs may not be called, and adds one that gets every mail. */
async function prepare({ clients, secrets }: Scene, receiverUrl: string): Promise<void> {
  const { webhooks } = await clients.call('GET', '/v1/webhooks');
  for (const { id } of webhooks) await clients.call('DELETE', `/v1/webhooks/${id}`);
  const always = { url: `${receiverUrl}/always`, events: ['message.received'] };
  secrets.set('/always', (await clients.call('POST', '/v1/webhooks', always)).secret);
  // Each inbox writes to each other one, which may then answer.
  for (const from of INBOXES) {
    for (const to of INBOXES.filter((handle) => handle !== from)) {
      const mail = { to: clients.addressOf(to), subject: 'Hello', plainBody: 'Hello', verified: true };
      await clients.call('POST', `${clients.inboxPath(from)}/send`, mail);
    }
  }
}

/** Checks that each key works that is there, and no other. */
async function checkKeys({ facts, clients, keys }: Scene, report: (problem: string) => void): Promise<void> {
  for (const [fact, key] of keys) {
    const expected = facts.valueOf(fact) === null ? 401 : 200;
    const status = await clients.statusFor(key);
    if (status !== expected) report(`The status for ${fact} is ${status}, not ${expected}`);
    if (expected === 401) keys.delete(fact);
  }
}

/** Returns a function that chooses a load at random, by its weight. */
function createChoice(): () => [name: string, load: Load] {
  const all = Object.entries(LOADS).flatMap(([name, load]) => Array<[string, Load]>(load.weight).fill([name, load]));
  return () => all[Math.floor(Math.random() * all.length)] as [string, Load];
}

/** Returns the message of an error with those of its causes, because `fetch failed` says too little. */
function describe({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${describe(cause)}` : message;
}
