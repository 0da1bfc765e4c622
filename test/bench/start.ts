import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { atMostTimes, type Comparison, compare, type Row, type Sample } from './measure.ts';
import { buildOurs, installEmulate, type Peer, startPeer } from './peers.ts';

const ROUNDS = { rounds: 11, warmUp: 1 };

/** Start: from the spawn of the process to its first answer to a request with a key, or to its end. */
export async function benchStart(): Promise<Row[]> {
  await using emulate = await installEmulate();
  const ours = await buildOurs();
  const [command = ''] = ours.args;
  const bareNode = sampleRun(['--eval', '0']);
  const rows = [
    toRow(1, 'first answer ÷ that of emulate', await compare(sampleStart(ours), sampleStart(emulate), ROUNDS)),
  ];
  for (const [flag, most] of [
    ['--version', 1.2],
    ['--help', 1.3],
  ] as const) {
    rows.push(toRow(most, `${flag} ÷ bare Node`, await compare(sampleRun([command, flag]), bareNode, ROUNDS)));
  }
  return rows;
}

/** Samples the microseconds to the first answer. */
function sampleStart(peer: Peer): Sample {
  return async () => {
    const startedAt = performance.now();
    const child = await startPeer(peer);
    const elapsedUs = (performance.now() - startedAt) * 1000;
    child.kill();
    await once(child, 'exit');
    return elapsedUs;
  };
}

/** Samples the microseconds that a run of Node takes. */
function sampleRun(args: readonly string[]): Sample {
  return async () => {
    const startedAt = performance.now();
    const [code] = await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit');
    if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}.`);
    return (performance.now() - startedAt) * 1000;
  };
}

function toRow(limit: number, what: string, comparison: Comparison): Row {
  return atMostTimes(limit, `start: ${what}`, comparison);
}
