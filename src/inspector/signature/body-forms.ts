import type { Form } from './signature-forms.ts';

const ROUND_TRIP = 'Verify the raw bytes of the request, before a JSON parser reads them.';

const jsonForm = (name: string, write: (value: unknown) => string | undefined): Form<string> => ({
  write: ({ body }) => ifJson(body, write),
  received: `The body was changed by a JSON round trip: the signature fits the same JSON ${name}. ${ROUND_TRIP}`,
  computed: `Your code signed the body after a JSON round trip: ${name}. ${ROUND_TRIP}`,
});

const textForm = (write: (body: string) => string | undefined, received: string, computed: string): Form<string> => ({
  write: ({ body }) => write(body),
  received,
  computed,
});

const escapeAll = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The text of the body; the first form is the correct one. */
export const BODIES: readonly Form<string>[] = [
  textForm((body) => body, '', ''),
  textForm(
    (body) => body.trim().replace(/^\ufeff/, ''),
    'The body has a line break or a space at its start or end that was not sent.',
    'Your code removed spaces or line breaks from the start or end of the body.',
  ),
  textForm(
    (body) => `${body}\n`,
    'A line break at the end of the body is missing.',
    'Your code added a line break at the end of the body.',
  ),
  jsonForm('without spaces and line breaks', (value) => JSON.stringify(value)),
  jsonForm('indented by 2 spaces', (value) => JSON.stringify(value, null, 2)),
  jsonForm('indented by 4 spaces', (value) => JSON.stringify(value, null, 4)),
  jsonForm('with spaces after colons and commas', writeSpaced),
  jsonForm('with spaces, and with letters beyond ASCII escaped', (value) => escapeAll(writeSpaced(value))),
  jsonForm('with letters beyond ASCII escaped', (value) => escapeAll(JSON.stringify(value))),
  jsonForm('with slashes escaped', (value) => JSON.stringify(value).replaceAll('/', '\\/')),
  jsonForm('with the fields in order of their names', (value) => JSON.stringify(sortFields(value))),
  {
    write: ({ body }) => ifJson(body, (value) => (typeof value === 'string' ? value : undefined)),
    received: `The body was written as JSON twice: it is a text in quotes, with the body that was sent inside. ${ROUND_TRIP}`,
    computed: 'Your code read the body as a JSON text and signed what is in it.',
  },
  textForm(
    (body) => body.replaceAll('\r\n', '\n'),
    'The line breaks of the body were changed to those of Windows (CRLF).',
    'Your code changed the line breaks of the body.',
  ),
  textForm(readAsUtf8, 'The body was read as Latin-1, but it is UTF-8.', 'Your code changed the encoding of the body.'),
  textForm(
    () => '',
    'The signature is that of an empty body.',
    'Your code signed an empty body: something else, such as a body parser, had already read it.',
  ),
];

function ifJson<Result>(text: string, use: (value: unknown) => Result): Result | undefined {
  try {
    return use(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Writes JSON with a space after each colon and comma, as `json.dumps` of Python does. */
function writeSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSpaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${writeSpaced(each)}`)
    .join(', ')}}`;
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, sortFields(each)]),
  );
}

/** Decodes a text as UTF-8 that was decoded as Latin-1; `undefined` if that is not possible. */
function readAsUtf8(text: string): string | undefined {
  if (!/^[\0-\xff]*$/.test(text)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(text, (each) => each.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
