/** The port when none is asked for. */
export const DEFAULT_PORT = 4025;

/** The address when none is asked for: this machine only. */
export const DEFAULT_HOST = '127.0.0.1';
