import type { AcceptStream, Streams } from '../stream/streams.ts';

/** Admits the client of an event stream by its URL. `prefix` is the part before the path; by default, the origin. */
export type Connect = (request: Pick<Request, 'url' | 'headers'>, prefix?: string) => AcceptStream;

/** Creates a `Connect` function for fetch requests from one for plain stream requests. */
export function createConnect(admit: Streams['admit']): Connect {
  return ({ url, headers }, prefix) => {
    const { pathname, searchParams } = new URL(url);
    const basePath = prefix === undefined ? '' : new URL(prefix).pathname.replace(/\/$/, '');
    return admit({ path: pathname.slice(basePath.length), query: searchParams, headers });
  };
}
