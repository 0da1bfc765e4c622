import { writeFileSync } from 'node:fs';
import { PAGES, renderPage } from './readme.ts';

// Writes the generated parts of the pages; test/readme.test.ts fails when they are stale.
for (const page of PAGES) writeFileSync(new URL(`../../${page}`, import.meta.url), renderPage(page));
