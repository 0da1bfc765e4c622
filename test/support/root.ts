import { fileURLToPath } from 'node:url';

/** The folder of the project, with a slash at the end. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));
