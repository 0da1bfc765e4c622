import { BlockList, isIP, isIPv6 } from 'node:net';
import { ON_OR_OFF, type OptionRow, type ParsedOptions, parseOptions, wholeNumber } from '../basics/check-options.ts';
import { type Duration, isDuration, isShortWait } from '../basics/duration.ts';
import { isUrlWithScheme, trimEndSlashes } from '../basics/text.ts';
import { DEFAULT_HOST, DEFAULT_PORT, hostnameOf } from './loopback.ts';

/** The options of `startServer` that the command can set by one value, besides those of the mailbox. */
export interface FlagOptions {
  /** The port to listen on; 0 picks a free one. Default: 4025. */
  readonly port?: number | undefined;
  /** The address to listen on. Default: `127.0.0.1`. On a non-loopback address, the control plane requires a token. */
  readonly host?: string | undefined;
  /** Host names, besides loopback names, that a request's `Host` may have. Default: none. */
  readonly allowHosts?: readonly string[] | undefined;
  /**
   * The http or https URL at which clients reach this process, such as `https://mailbox.example/s2`. Replies contain
   * this URL, and a request's `Host` may be the host of this URL. Default: a reply contains the URL that its client
   * called.
   */
  readonly publicUrl?: string | undefined;
  /**
   * How long the server keeps running after `close()` or a signal, such as `10s`. During this time, `GET /__mock/ready`
   * answers 503, and no sandbox can be created. Default: the server ends at once.
   */
  readonly drain?: Duration | undefined;
  /** Origins, besides loopback origins, whose pages may call the API; `*` for all. Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** The port for incoming mail over SMTP; 0 picks a free one. Default: no SMTP. */
  readonly smtpPort?: number | undefined;
  /** The port for IMAP; 0 picks a free one. Default: no IMAP. */
  readonly imapPort?: number | undefined;
  /** The PEM file with the certificate for TLS on the SMTP and IMAP ports; needs `tlsKey`. Default: no TLS. */
  readonly tlsCert?: string | undefined;
  /** The PEM file with the key of the certificate. Default: none. */
  readonly tlsKey?: string | undefined;
  /** Whether IMAP and SMTP refuse a login without TLS; needs `tlsCert`. Default: `false`. */
  readonly tlsRequired?: boolean | undefined;
  /**
   * Receivers that webhooks may call, besides loopback addresses: hosts, ranges such as `10.0.0.0/8`, or `*` for all.
   * Link-local and cloud metadata addresses are never called. Default: none.
   */
  readonly deliverTo?: readonly string[] | undefined;
  /**
   * The token that the control plane requires: 16 to 256 letters, digits and `-._+/=`. Default: no token if the server
   * listens on loopback, otherwise a random token.
   */
  readonly controlToken?: string | undefined;
  /**
   * The file that keeps the data from one run to the next. If the file exists, it is loaded at the start. It is written
   * 0.1 seconds after each change and at the end. No reply waits for it, so `kill -9` loses what was acknowledged since
   * the latest write began. No other server can use the file at the same time. `reset()` restores the fixture
   * and not the data of the file. Default: none.
   */
  readonly state?: string | undefined;
  /** Whether the log has a line for each control call, and for each file of the inspector. Default: `false`. */
  readonly verbose?: boolean | undefined;
}

/** The type of one item if the option is a list, otherwise the type of the option. */
type ItemOf<Option> = Option extends readonly (infer Item)[] ? Item : NonNullable<Option>;

const PORT = { ...wholeNumber(0, 65_535), value: '<port>' } as const;

const FILE = {
  value: '<file>',
  expected: 'the name of a file',
  parse: (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined),
} as const;

/**
 * Everything about each option, by its name, except what it means in code, which is said above. The type checks that each
 * option has a row.
 */
export const SERVER_OPTIONS = {
  port: {
    ...PORT,
    flag: 'port',
    short: 'p',
    otherVariable: 'PORT',
    help: `Port to listen on; 0 picks a free one (default ${DEFAULT_PORT}; also PORT)`,
    default: DEFAULT_PORT,
  },
  host: {
    flag: 'host',
    value: '<address>',
    help: `Address to listen on (default ${DEFAULT_HOST})`,
    default: DEFAULT_HOST,
    expected: 'an address or a host name',
    // An empty text is invalid, because Node would then listen on all addresses of the machine.
    parse: (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined),
  },
  smtpPort: { ...PORT, flag: 'smtp-port', help: 'Accept mail over SMTP on this port too; 0 picks a free one' },
  imapPort: {
    ...PORT,
    flag: 'imap-port',
    help: 'Serve the mail of inboxes over IMAP on this port; 0 picks a free one',
  },
  tlsCert: {
    ...FILE,
    flag: 'tls-cert',
    help: 'PEM file with the certificate for TLS on the SMTP and IMAP ports; needs --tls-key',
  },
  tlsKey: { ...FILE, flag: 'tls-key', help: 'PEM file with the key of the certificate' },
  tlsRequired: {
    ...ON_OR_OFF,
    flag: 'tls-required',
    help: 'Refuse IMAP and SMTP logins without TLS',
    default: false,
  },
  allowHosts: {
    flag: 'allow-host',
    multiple: true,
    value: '<host>',
    help: 'Accept requests with this host in the Host header, besides loopback names; repeatable',
    expected: 'a host name without scheme and port',
    takes: 'host names such as "mailbox.example", without a port',
    default: [],
    parse: (value: unknown) => (typeof value === 'string' ? toHostname(value) : undefined),
  },
  publicUrl: {
    flag: 'public-url',
    value: '<url>',
    help: 'URL that clients call, such as https://mailbox.example/s2; its host is then accepted in the Host header',
    expected: 'an http or https URL without a query, such as https://mailbox.example/s2',
    parse: (value: unknown) =>
      typeof value === 'string' && isUrlWithScheme(value, /^https?$/) && !/[?#@]/.test(value)
        ? trimEndSlashes(new URL(value).href)
        : undefined,
  },
  drain: {
    flag: 'drain',
    value: '<time>',
    help: 'After a signal, keep running for this time, such as 10s; GET /__mock/ready then answers 503 (default: 0s)',
    default: '0s',
    expected: 'a time of at most 1h, such as 10s',
    parse: (value: unknown) => (isDuration(value) && isShortWait(value) ? value : undefined),
  },
  corsOrigins: {
    flag: 'cors-origin',
    multiple: true,
    value: '<origin>',
    help: 'Allow pages from this origin to call the API, or * for all; repeatable',
    expected: 'an origin such as https://app.example, or *',
    takes: 'origins such as "https://app.example", or "*"',
    default: [],
    parse: (value: unknown) => (typeof value === 'string' ? toOrigin(value) : undefined),
  },
  deliverTo: {
    flag: 'deliver-to',
    multiple: true,
    value: '<host>',
    help: 'Allow deliveries to this host or IP range too, or * for all; repeatable',
    expected: 'a host name without scheme and port, a range such as 10.0.0.0/8, or *',
    takes: 'hosts, ranges such as "10.0.0.0/8", or "*"',
    default: [],
    parse: (value: unknown) => (typeof value === 'string' ? toReceiver(value) : undefined),
  },
  controlToken: {
    flag: 'token',
    value: '<token>',
    help: 'Token that control calls need (default: none on loopback, else a random one)',
    expected: '16 to 256 letters, digits and -._+/=',
    isSecret: true,
    // Only these characters are allowed, because they need no quotes in a header, a shell or an environment file.
    parse: (value: unknown) => (typeof value === 'string' && /^[\w.+/=-]{16,256}$/.test(value) ? value : undefined),
  },
  state: {
    ...FILE,
    flag: 'state',
    help: 'File that keeps the data: loaded at the start, written 0.1 s after each change (kill -9 loses what is newer); no other emulator may use it',
  },
  verbose: {
    ...ON_OR_OFF,
    flag: 'verbose',
    help: 'Log control calls that only read, and the requests of the inspector, too',
    default: false,
  },
} as const satisfies { [Name in keyof FlagOptions]-?: OptionRow<ItemOf<FlagOptions[Name]>> };

/** The checked options, with their defaults. */
export type Settings = ParsedOptions<typeof SERVER_OPTIONS, FlagOptions>;

/**
 * Checks the options of `startServer` that have a row, and applies their defaults.
 *
 * @throws {RangeError} on an invalid port.
 * @throws {TypeError} on any other invalid value.
 */
export function parseSettings(options: FlagOptions): Settings {
  return parseOptions(SERVER_OPTIONS, options);
}

/** Returns a host name as it is written in URLs; `undefined` for other texts, such as a host name with a port. */
function toHostname(host: string): string | undefined {
  const authority = isIPv6(host) ? `[${host}]` : host;
  return /:\d*$/.test(authority) ? undefined : hostnameOf(authority);
}

function toOrigin(text: string): string | undefined {
  if (text === '*') return text;
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  const { origin, protocol, host } = new URL(text);
  // `URL` returns no origin for other schemes, such as those of browser extensions.
  return origin === 'null' ? `${protocol}//${host.toLowerCase()}` : origin;
}

/** Returns a range or `*` unchanged, and a host as it is written in URLs, but without brackets. */
function toReceiver(entry: string): string | undefined {
  if (entry === '*' || isRange(entry)) return entry;
  return toHostname(entry)?.replace(/^\[|\]$/g, '');
}

function isRange(entry: string): boolean {
  const [, base = '', bits = ''] = /^([^/%]+)\/(\d+)$/.exec(entry) ?? [];
  const version = isIP(base);
  if (version === 0) return false;
  return version === 4 ? Number(bits) <= 32 : Number(bits) <= 128 && !isMappedIPv4(base);
}

/**
 * Returns whether an IPv6 address contains an IPv4 address. The address is then compared as IPv4, so an IPv6 range
 * would never match it.
 */
function isMappedIPv4(address: string): boolean {
  const mapped = new BlockList();
  mapped.addSubnet('::ffff:0:0', 96, 'ipv6');
  return mapped.check(address, 'ipv6');
}
