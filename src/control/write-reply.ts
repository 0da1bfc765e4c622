import { type AnyReply, jsonReply, streamReply, textReply } from '../pipeline/http.ts';
import type { ContentType, ControlRow } from './row.ts';

/** Creates the reply of a row in its media type. */
export function writeReply({ content = 'application/json' }: ControlRow, value: unknown): AnyReply {
  return WRITERS[content](value);
}

const WRITERS: Readonly<Record<ContentType, (value: unknown) => AnyReply>> = {
  'application/json': (value) => jsonReply(200, value),
  'text/plain': (value) => textReply(200, String(value), 'text/plain; charset=utf-8'),
  'text/html': (value) => textReply(200, String(value), 'text/html; charset=utf-8'),
  'text/event-stream': (items) => streamReply(200, toEvents(items as AsyncIterable<unknown>), 'text/event-stream'),
};

/** Writes each item as the data of an event (HTML standard, "Server-sent events"). */
async function* toEvents(items: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const item of items) yield `data: ${JSON.stringify(item)}\n\n`;
}
