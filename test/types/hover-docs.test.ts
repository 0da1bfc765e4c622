import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { HOVERS, MISTAKES, openEditor } from '../support/editor.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ROOT);
const editor = openEditor(join(ROOT, 'test/types'), options);

test.each(HOVERS)(
  'an editor shows the comment on a property of %s: %s',
  { timeout: 120_000 },
  (type, marked, comment) => {
    expect(editor.hover(type, marked)).toContain(comment);
  },
);

test.each(MISTAKES)(
  'a compiler names the part of %s that is wrong: %s',
  { timeout: 120_000 },
  (type, marked, message) => {
    expect(editor.problem(type, marked)).toContain(message);
  },
);
