/** The files of `src/` that build expressions from texts, and for each what builds one of every kind. */
export const BUILT: Readonly<Record<string, () => Promise<unknown>>> = {
  'src/cli/find-files.ts': async () => {
    const { findFiles } = await import('../../src/cli/find-files.ts');
    await findFiles('no-folder/**/{a,b}?.eml');
    return findFiles('no-folder/*');
  },
  'src/contract/header-name.ts': () => import('../../src/contract/header-name.ts'),
  'src/samples/find-breaches.ts': async () => {
    const { findBreaches } = await import('../../src/samples/find-breaches.ts');
    const request = { path: '/', request: { query: [], body: null, headers: {} } };
    const observed = { requests: () => [request], snapshot: () => ({ tenants: [] }) };
    const wanted = { rules: { neverJoin: true }, code: ['AB', '12'], idStart: '', firstId: '' };
    return findBreaches(observed as never, wanted as never);
  },
  'src/server/log/request-log.ts': () => import('../../src/server/log/request-log.ts'),
};

/** What loads all schemas, so that the expressions that zod builds for them are known. */
export const SCHEMAS = () => import('../../src/server/index.ts');

/**
 * The files of bundled packages that have regular expressions, by the foreign text that these see. The list is kept by
 * hand: when a package is added to the build, look for its expressions.
 */
export const READERS_OF_FOREIGN_TEXT: Readonly<Record<string, readonly string[]>> = {
  'a mail': ['postal-mime/dist/esm/address-parser.js', 'postal-mime/dist/esm/decode-strings.js'],
  'the commands of an SMTP client': [
    'nodemailer/dist/esm/shared/index.js',
    'nodemailer/dist/esm/shared/url.js',
    'punycode.js/punycode.es6.js',
    'smtp-server/dist/esm/ipv6-normalize.js',
    'smtp-server/dist/esm/sasl.js',
    'smtp-server/dist/esm/smtp-connection.js',
  ],
  'the fields of a request': ['ms/index.js', 'uuid/dist/regex.js', 'zod/v4/core/regexes.js', 'zod/v4/core/schemas.js'],
  'the URL and the headers of a request': [
    'content-type/index.js',
    'encodeurl/index.js',
    'escape-html/index.js',
    'finalhandler/index.js',
    'fresh/index.js',
    'negotiator/lib/charset.js',
    'negotiator/lib/encoding.js',
    'negotiator/lib/language.js',
    'negotiator/lib/mediaType.js',
    'ws/lib/extension.js',
    'ws/lib/websocket.js',
  ],
  'the address of a receiver': ['ipaddr.js/lib/ipaddr.js'],
  'the reply of a receiver': ['undici/lib/core/request.js', 'undici/lib/core/util.js'],
};

/** An expression that the checker does not accept, and why it does no harm. */
interface Exception {
  readonly place: string;
  /** The expression, as it is written. */
  readonly text: string;
  readonly reason: string;
  /** The rows of the growth test that feed it, by the beginning of their names. */
  readonly growth: string;
}

/** Each has a row of the growth test: what reaches it is short, or the work is linear all the same. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    place: 'src/mail/bounce-text.ts',
    text: String.raw`/(?<![^\s<>()[\]"',;:*|])[^\s<>()[\]"',;:@*|][^\s<>()[\]",;:@*|]{0,63}@[^\s<>()[\]"',;:@*|]{0,253}[^\s<>()[\]"',;:@*|.!?]/g`,
    reason: 'From each place it reads at most 64 characters, and 254 more after an @.',
    growth: 'the addresses that a report names in',
  },
  {
    place: 'ms/index.js',
    text: String.raw`/^(-?(?:\d+)?\.?\d+) *(milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w|years?|yrs?|y)?$/i`,
    reason: 'It gets at most 100 characters.',
    growth: 'the duration',
  },
  {
    place: 'ipaddr.js/lib/ipaddr.js',
    text: '/%.+$/',
    reason: 'It gets the host of a URL of at most 2,048 characters, in which % is not allowed.',
    growth: 'the protocol of a URL',
  },
];
