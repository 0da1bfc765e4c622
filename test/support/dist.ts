import { fileURLToPath } from 'node:url';

/** The folder of the built package, which is current: it is built before the tests that import this file. */
export const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
