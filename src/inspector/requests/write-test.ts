import type { RequestEntry } from '../../journal/request-entry.ts';
import { partsOf } from './request-parts.ts';

/** Writes a test for vitest that sends a request again and expects the same result. */
export function writeTest(entry: RequestEntry): string {
  const { target, headers, key, body, notes } = partsOf(entry);
  const error = errorOf(entry);
  const fields = [
    ...(key ? [`${quote(key.header)}: \`${key.before}\${process.env.${key.variable}}\`,`] : []),
    ...headers.map(([name, value]) => `${quote(name)}: ${quote(value)},`),
  ];
  return [
    "import { expect, test } from 'vitest';",
    '',
    '// npx agent-mailbox-mock exec -- npx vitest run',
    ...notes.map((note) => `// ${note}`),
    `test(${quote(titleOf(entry))}, async () => {`,
    `  const reply = await fetch(process.env.MAILBOX_BASE_URL + ${quote(target)}, {`,
    `    method: ${quote(entry.method)},`,
    ...(fields.length > 0 ? ['    headers: {', ...fields.map((field) => `      ${field}`), '    },'] : []),
    ...(body === null ? [] : [`    body: ${quote(body)},`]),
    '  });',
    `  expect(reply.status).toBe(${entry.status});`,
    ...(error === undefined ? [] : [`  expect(await reply.json()).toMatchObject({ error: ${quote(error)} });`]),
    '});',
    '',
  ].join('\n');
}

function titleOf({ operation, method, path, status, code }: RequestEntry): string {
  return `${operation ?? `${method} ${path}`} is answered with ${code === null ? status : `${status} ${code}`}`;
}

/** Returns the error of a reply, which is the same each time, as a success is not. */
function errorOf({ status, reply }: RequestEntry): string | undefined {
  if (status < 400) return undefined;
  try {
    const { error } = JSON.parse(reply.body ?? '');
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a text as a string in JavaScript. */
function quote(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner}'`;
}
