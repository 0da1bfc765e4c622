import { readFileSync, writeFileSync } from 'node:fs';
import { renderReadme } from './readme.ts';

// Writes the generated parts of README.md; test/readme.test.ts fails when they are stale.
const path = new URL('../../README.md', import.meta.url);
writeFileSync(path, renderReadme(readFileSync(path, 'utf8')));
