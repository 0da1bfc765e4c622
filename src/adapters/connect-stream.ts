import type { AcceptStream, Streams } from '../stream/streams.ts';

/** Admits the client of an event stream by its URL; what stands before the path is `prefix`, or the origin. */
export type Connect = (request: Pick<Request, 'url' | 'headers'>, prefix?: string) => AcceptStream;

/** Turns what admits plain requests for a stream into what admits those of the platform. */
export function createConnect(admit: Streams['admit']): Connect {
  return ({ url, headers }, prefix) => {
    const { pathname, searchParams } = new URL(url);
    const before = prefix === undefined ? '' : new URL(prefix).pathname.replace(/\/$/, '');
    return admit({ path: pathname.slice(before.length), query: searchParams, headers });
  };
}
