const NO_ADDRESS = 'This machine has no address <host>; choose another with --host.';
const NO_HOST = 'There is no host <host>; choose an address of this machine with --host.';

/** What the user can do if a server cannot listen, by error code. */
const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Port <port> on <host> is taken; choose another with <flag>, or 0 for a free one.',
  EACCES: 'Port <port> needs rights that you do not have; choose one above 1023 with <flag>.',
  EADDRNOTAVAIL: NO_ADDRESS,
  EAFNOSUPPORT: NO_ADDRESS,
  ENOTFOUND: NO_HOST,
  EAI_AGAIN: NO_HOST,
};

/** Returns what the user can do if a server cannot listen; `undefined` for an error code of another kind. */
export function explainListenError(
  code: string,
  facts: {
    readonly host: string | undefined;
    readonly port: number;
    /** The flag that chooses the port. */
    readonly flag: string;
  },
): string | undefined {
  return LISTEN_PROBLEMS[code]?.replace(/<(\w+)>/g, (_, name: keyof typeof facts) => String(facts[name]));
}
