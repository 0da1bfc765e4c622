import { writeFileSync } from 'node:fs';
import { computeDefaultFiles } from './default-fixture.ts';
import { writeExamples } from './openapi-examples.ts';
import { GENERATED_PAGES, renderPage } from './readme.ts';

// Writes the generated parts of the pages, and the default fixture as a start reads it; tests fail when they are stale.
for (const page of GENERATED_PAGES) writeFileSync(new URL(`../../${page}`, import.meta.url), renderPage(page));
for (const [file, text] of Object.entries(computeDefaultFiles()))
  writeFileSync(new URL(`../../${file}`, import.meta.url), text);
await writeExamples();
