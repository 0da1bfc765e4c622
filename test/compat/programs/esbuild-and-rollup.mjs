// Bundles the main entry by esbuild and by rollup, for Node and for a page, without configuration, and runs each bundle.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import resolve from '@rollup/plugin-node-resolve';
import { build } from 'esbuild';
import { rollup } from 'rollup';

writeFileSync(
  'bundled.mjs',
  `import { createMailbox } from 'agent-mailbox-mock';
  async function main() {
    const mailbox = createMailbox();
    const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
    const { status } = await mailbox.fetch('https://mailbox.test/v1/me', { headers });
    console.log(status, mailbox.handlers.length);
  }
  main();`,
);

const warnings = [];
const files = [];

for (const [platform, format, ending] of [
  ['node', undefined, 'cjs'],
  ['node', 'esm', 'mjs'],
  ['browser', undefined, 'mjs'],
]) {
  const outfile = `dist/esbuild-${platform}.${ending}`;
  const entryPoints = ['bundled.mjs'];
  const result = await build({ entryPoints, bundle: true, platform, format, outfile, logLevel: 'silent' });
  warnings.push(...result.warnings.map(({ text }) => text));
  files.push(outfile);
}
// Rollup finds packages only by this plugin.
for (const browser of [false, true]) {
  const file = `dist/rollup-${browser ? 'browser' : 'node'}.mjs`;
  const plugins = [resolve({ browser, preferBuiltins: true })];
  const bundle = await rollup({ input: 'bundled.mjs', plugins, onwarn: ({ message }) => warnings.push(message) });
  await bundle.write({ file, format: 'es', inlineDynamicImports: true });
  files.push(file);
}
if (warnings.length > 0) throw new Error(warnings.join('\n'));

for (const file of files) {
  const printed = execFileSync(process.execPath, [file], { encoding: 'utf8' }).trim();
  if (printed !== '200 3') throw new Error(`${file} prints ${printed}, and 200 3 is right.`);
}
