/** The default port. */
export const DEFAULT_PORT = 4025;

/** The default address: only this machine can connect. */
export const DEFAULT_HOST = '127.0.0.1';
