/** The path prefix of the control plane. */
export const CONTROL_PATH = '/__mock';

/** The header of the control token, in lower case. */
export const CONTROL_TOKEN_HEADER = 'x-mock-token';

/** The parameter of the URL of a page that proves that whoever wrote the URL has the token. */
export const PROOF_PARAMETER = 'proof';
