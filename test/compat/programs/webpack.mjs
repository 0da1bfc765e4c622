// Bundles the main entry by webpack for Node and for a page, without configuration, and runs the bundle for Node.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import webpack from 'webpack';

writeFileSync(
  'main.mjs',
  `import { createMailbox } from 'agent-mailbox-mock';
  const mailbox = createMailbox();
  const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
  const { status } = await mailbox.fetch('https://mailbox.test/v1/me', { headers });
  console.log(status, mailbox.handlers.length);`,
);

for (const target of ['node', 'web']) {
  // Not minified, which takes long; the hints are about the size of pages, and not about the package.
  const options = { mode: 'development', devtool: false, target, entry: './main.mjs', performance: { hints: false } };
  const output = { filename: `${target}.cjs`, path: `${process.cwd()}/dist` };
  const stats = await new Promise((resolve, reject) => {
    webpack({ ...options, output }, (error, done) => (error ? reject(error) : resolve(done)));
  });
  if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString('errors-warnings'));
}

const printed = execFileSync(process.execPath, ['dist/node.cjs'], { encoding: 'utf8' }).trim();
if (printed !== '200 3') throw new Error(`The bundle prints ${printed}, and 200 3 is right.`);
