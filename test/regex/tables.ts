/** The files of `src/` that build expressions from texts, and for each what builds one of every kind. */
export const BUILT: Readonly<Record<string, () => Promise<unknown>>> = {
  'src/cli/commands/read-data.ts': async () => {
    const { findFiles } = await import('../../src/cli/commands/read-data.ts');
    await findFiles('no-folder/**/{a,b}?.eml');
    return findFiles('no-folder/*');
  },
  'src/contract/header-fields.ts': () => import('../../src/contract/header-fields.ts'),
  'src/control/journal/from-entries/search-terms.ts': () =>
    import('../../src/control/journal/from-entries/search-terms.ts'),
  'src/control/verdicts/oracles.ts': async () => {
    const { findBreaches } = await import('../../src/control/verdicts/oracles.ts');
    // The expression is built only if a mail of the sample has arrived.
    const { createMailbox } = await import('../../src/mailbox/index.ts');
    const observed = createMailbox();
    await observed.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', plainBody: 'x' });
    const wanted = { rules: { neverJoin: true }, code: ['AB', '12'], idStart: '', firstId: '' };
    return findBreaches(observed as never, wanted as never);
  },
  'src/server/server-log.ts': () => import('../../src/server/server-log.ts'),
  'src/evaluate/sandbox-addresses.ts': async () => {
    const { toSandbox } = await import('../../src/evaluate/sandbox-addresses.ts');
    return toSandbox('helpdesk@acme.test', { written: 'acme.test', actual: '3f9c2a71b04d.sandbox.test' });
  },
  // The expression is the one that the author of a scenario has written.
  'src/evaluate/text-pattern.ts': async () => {
    const { TextPattern } = await import('../../src/evaluate/text-pattern.ts');
    return new TextPattern('/order/');
  },
};

/** What loads all schemas, so that the expressions that zod builds for them are known. */
export const SCHEMAS = () => import('../../src/server/index.ts');

/**
 * The files of bundled packages that have regular expressions, by the foreign text that these see. When a
 * package is added to the build, look for its expressions: the test of the package fails until it is in one of these
 * two tables.
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
  'the fields of a request': ['ms/index.js', 'zod/v4/core/regexes.js', 'zod/v4/core/schemas.js'],
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
  'a fixture': ['jsonc-parser/lib/esm/impl/parser.js'],
};

/** The other bundled packages, by why their expressions see no foreign text. */
export const OTHER_PACKAGES: Readonly<Record<string, string>> = {
  'It has no expression.':
    '@mswjs/data @mswjs/http-middleware @stablelib/base64 @stablelib/binary @stablelib/hash @stablelib/hmac ' +
    '@stablelib/int @stablelib/sha256 @stablelib/wipe accepts array-flatten async-function ' +
    'async-generator-function call-bind-apply-helpers call-bound destroy dunder-proto ee-first entities es-define-property ' +
    'es-errors es-object-atoms etag fast-sha256 forwarded function-bind generator-function get-proto gopd ' +
    'has-symbols hasown htmlparser2 http-errors inherits math-intrinsics merge-descriptors methods mime-db ' +
    'on-finished parseurl range-parser safe-buffer safer-buffer serve-static setprototypeof side-channel ' +
    'side-channel-list side-channel-map side-channel-weakmap standardwebhooks statuses strict-event-emitter ' +
    'type-is unpipe utils-merge',
  'Its expressions see only texts of our own code, the environment, or replies of handlers that a user wrote.':
    '@babel/runtime @noble/hashes bytes content-disposition cookie cookie-signature date-fns depd ' +
    'express get-intrinsic lodash-es mime mime-types object-inspect outvariant path-to-regexp ' +
    'toidentifier vary',
  'Its expressions see only the scenario files of a user, which the user wrote.': 'yaml',
  'It parses what express parses only if it is asked, and express is not asked: queries, bodies, files, proxies.':
    'body-parser iconv-lite media-typer proxy-addr qs raw-body send',
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
    place: 'src/service/mail/incoming/report-bounce.ts',
    text: String.raw`/(?<![^\s<>()[\]"',;:*|])[^\s<>()[\]"',;:@*|][^\s<>()[\]",;:@*|]{0,63}@[^\s<>()[\]"',;:@*|]{1,254}(?<![.!?])/g`,
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
