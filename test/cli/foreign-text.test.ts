import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runHere } from '../support/command.ts';
import { makeFolder, writeFixture } from '../support/folder.ts';

/** What a file may contain: escapes, C1 controls, DEL, marks of direction, and separators of lines. */
const HOSTILE = '\u001b[2J\u009b31m\u007f\u0085\u202e\u2066\u200f\u061c\u2028\u2029\u0000';

const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Fails if a text has a character that controls a terminal, other than the line breaks between its lines. */
function expectPrintable({ out, err }: { readonly out: readonly string[]; readonly err: string }): void {
  for (const text of [...out, err]) expect(text.replaceAll('\n', '')).not.toMatch(UNPRINTABLE);
}

test('what validate says of a fixture has no character that controls a terminal', async (context) => {
  const fixtures = [
    { [HOSTILE]: 1 },
    { tenants: { [HOSTILE]: {} } },
    { tenants: { acme: { [HOSTILE]: {}, name: HOSTILE } } },
    { tenants: { acme: { workspaces: { main: { inboxes: { [`a${HOSTILE}`]: { address: HOSTILE } } } } } } },
    { tenants: { acme: { webhooks: { hook: { url: HOSTILE, events: [HOSTILE], workspace: HOSTILE } } } } },
  ];
  for (const fixture of fixtures) {
    // The names as they are, and not as escapes.
    const text = JSON.stringify(fixture).replace(/\\u(00[89].|007f)/g, (_, hex) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    const result = await runHere(['validate', await writeFixture(context, text)]);
    expect(result.code).toBe(1);
    expectPrintable(result);
  }
});

test('what validate says of a text that is not JSON has none either', async (context) => {
  for (const text of [
    `{"a":1,"a${HOSTILE}":2}`,
    `{"${HOSTILE.replace('\u0000', '')}":1,"${HOSTILE.replace('\u0000', '')}":2}`,
  ]) {
    const result = await runHere(['validate', await writeFixture(context, text)]);
    expect(result.code).toBe(1);
    expectPrintable(result);
  }
});

test('an error that names a file, a flag or a command has none either', async (context) => {
  const folder = await makeFolder(context);
  const lines = [
    ['validate', join(folder, `no${HOSTILE.replace('\u0000', '')}file`)],
    [HOSTILE],
    [`--${HOSTILE}`],
    ['--port', HOSTILE],
    ['trigger', HOSTILE],
    ['samples', HOSTILE],
    ['behaviours', HOSTILE],
    ['fleet', HOSTILE],
    ['client', HOSTILE],
    ['verify', '--base-url', HOSTILE],
  ];
  for (const args of lines) {
    const result = await runHere(args);
    expect(result.code, args[0]).toBeGreaterThan(0);
    expectPrintable(result);
  }
});

test('what verify says of a recording has none either, and its JSON has escapes', async (context) => {
  const file = join(await makeFolder(context), 'recording.har');
  const entry = (path: string, text: string) => ({
    request: {
      method: 'GET',
      url: `https://api.example.com${path}`,
      headers: [{ name: 'X-API-Key', value: 'tk_acme_tenant_key' }],
    },
    response: { status: 200, headers: [{ name: 'content-type', value: 'application/json' }], content: { text } },
  });
  const entries = [
    entry('/v1/webhooks', JSON.stringify({ [HOSTILE]: HOSTILE, webhooks: [{ id: HOSTILE, [HOSTILE]: 1 }] })),
    entry(`/v1/inboxes/${encodeURIComponent(HOSTILE)}`, HOSTILE),
    entry(`/v1/${HOSTILE}`, '{}'),
  ];
  await writeFile(file, JSON.stringify({ log: { entries } }));
  for (const flags of [[], ['--json']]) {
    const result = await runHere(['verify', '--har', file, ...flags]);
    expectPrintable(result);
    if (flags.length > 0) expect(JSON.parse(result.out.join(''))).toHaveProperty('findings');
  }
});

test('what show says of a trace has none either', async (context) => {
  const file = join(await makeFolder(context), 'trace.jsonl');
  await writeFile(file, `{"type":"trace","version":1,"${HOSTILE.replace('\u0000', '')}":1}\n{"type":"story"}\n`);
  for (const flags of [[], ['--json']]) expectPrintable(await runHere(['show', file, ...flags]));
});
