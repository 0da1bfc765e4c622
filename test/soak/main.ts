import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import buildOnce from '../support/build-once.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    'kill-every': { type: 'string', default: '5m' },
    rate: { type: 'string', default: '12' },
  },
});
const [, amount, unit] = /^(\d+(?:\.\d+)?)(s|m)$/.exec(values['kill-every']) ?? [];
const killEveryMs = Number(amount) * (unit === 'm' ? 60_000 : 1_000);
const minutes = Number(values.minutes);
const rate = Number(values.rate);
if (!(minutes > 0 && killEveryMs > 0 && rate > 0)) {
  throw new Error('Give a number for --minutes and --rate, and a time such as 20s or 5m for --kill-every.');
}
const print = (line: string) => void process.stdout.write(`${line}\n`);
await buildOnce();
const folder = mkdtempSync(join(tmpdir(), 'soak-'));
try {
  const isPassed = await soak({ folder, durationMs: minutes * 60_000, killEveryMs, rate, print });
  process.exitCode = isPassed ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
