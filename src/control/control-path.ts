/** The path under which the control plane lives. */
export const CONTROL_PATH = '/__mock';

/** The header that carries the control token where one is needed. */
export const CONTROL_TOKEN_HEADER = 'x-mock-token';
