// Programs that are not ours against the packed tarball: `npm run test:all -- imap`. Words behind `--` choose some of them.
// What is not installed is skipped on a machine of a developer, and fails in CI.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENTS } from './clients.ts';
import { hasProgram } from './dovecot.ts';
import { judge } from './judge.ts';
import { type Running, startPacked } from './packed.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const isCI = Boolean(process.env.CI);
const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'test-imap-'));
const packed = spawnSync('npm', ['pack', '--pack-destination', folder], {
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  encoding: 'utf8',
  env: { ...process.env, npm_config_loglevel: 'error' },
});
const tarball = packed.stdout.trim().split('\n').at(-1) ?? '';
if (packed.status !== 0) throw new Error(`The package cannot be packed: ${packed.stderr}`);
writeFileSync(join(folder, 'package.json'), '{"private":true}');
const installed = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', join(folder, tarball)], {
  cwd: folder,
  encoding: 'utf8',
});
if (installed.status !== 0) throw new Error(`The tarball cannot be installed: ${installed.stderr}`);

const running = await startPacked(folder);
let failed = 0;
const run = async (name: string, missing: string | undefined, work: (running: Running) => Promise<void>) => {
  if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) return;
  if (missing !== undefined) {
    print(`${isCI ? 'failed' : 'skipped'}: ${name}: ${missing} is not installed; get it by apt-get install.`);
    if (isCI) failed += 1;
    return;
  }
  try {
    await running.reset();
    await work(running);
    print(`passed: ${name}`);
  } catch (error) {
    failed += 1;
    print(`failed: ${name}: ${error instanceof Error ? `${error.message}\n${error.cause ?? ''}` : error}`);
  }
};

for (const { name, programs, run: work } of CLIENTS) {
  await run(
    name,
    programs.find((program) => !hasProgram(program)),
    work,
  );
}
await run('Dovecot as the judge', hasProgram('/usr/lib/dovecot/imap') ? undefined : 'dovecot-imapd', judge);
await running[Symbol.asyncDispose]();
rmSync(folder, { recursive: true, force: true });
print(failed === 0 ? 'Every program that was found works.' : `${failed} failed.`);
process.exitCode = failed === 0 ? 0 : 1;
