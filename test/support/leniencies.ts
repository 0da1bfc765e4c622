import type { Mailbox } from 'agent-mailbox-mock';
import type { SendOptions } from './send.ts';

/** A request that Prism refuses. */
export interface Refused {
  readonly method: string;
  readonly path: string;
  readonly options: SendOptions;
  readonly behaviours: Mailbox['behaviours'];
  /** The error of Prism. */
  readonly verdict: string;
}

/** A request that the emulator accepts although the OpenAPI document does not allow it. */
interface Leniency {
  readonly reason: string;
  applies(request: Refused): boolean;
}

/** Each has a test in test/contract/openapi/leniencies.test.ts; one that no test needs fails `npm run test:all -- contract`. */
export const LENIENCIES: readonly Leniency[] = [
  {
    reason: 'HEAD and OPTIONS follow from the other methods of a path.',
    applies: ({ method }) => ['HEAD', 'OPTIONS'].includes(method),
  },
  {
    reason: 'The name of an authentication scheme is case-insensitive (RFC 9110, section 11.1); to Prism it is not.',
    applies: ({ options }) => /^bearer /i.test(options.headers?.Authorization ?? ''),
  },
  {
    reason: 'requests.trailing-slash=ignored takes a path with a slash behind it.',
    applies: ({ path, behaviours }) => path.endsWith('/') && behaviours['requests.trailing-slash'] === 'ignored',
  },
  {
    reason: 'requests.content-type=any reads a body as JSON whatever its type.',
    applies: ({ options, behaviours }) =>
      options.body !== undefined &&
      !options.headers?.['Content-Type']?.startsWith('application/json') &&
      behaviours['requests.content-type'] === 'any',
  },
  {
    reason: 'An operation that takes no body reads past an object.',
    applies: ({ verdict }) => verdict.includes('No supported content types'),
  },
  {
    reason: 'Of a query parameter that is repeated the first counts; to Prism it is a list.',
    applies: ({ path }) => {
      const names = queryNames(path);
      return new Set(names).size < names.length;
    },
  },
  {
    reason: 'The name of a query parameter is case-sensitive; to Prism it is not.',
    applies: ({ path }) => queryNames(path).some((name) => /^[A-Z]/.test(name)),
  },
  {
    reason: 'An international domain or address may be in Unicode; the formats hostname and email are for ASCII.',
    applies: ({ options, verdict }) =>
      /format \W*(?:hostname|email)\b/.test(verdict) && /[^\0-\x7f]/.test(JSON.stringify(options.json) ?? ''),
  },
];

function queryNames(path: string): string[] {
  return [...new URLSearchParams(path.split('?')[1]).keys()];
}

/** Returns why a path cannot go through Prism, or `undefined`; such a request is sent directly. */
export function whyUncheckable(path: string): string | undefined {
  if (!isDecodable(path)) return 'Prism never answers a path that does not decode.';
  if (/^[^?]*%([46][1-9a-f]|[57][\da])/i.test(path)) return 'Prism takes an encoded letter for the letter.';
  return undefined;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
