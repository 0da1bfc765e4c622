/** Returns whether a path, or what follows the base URL, belongs to the service, whether or not it exists there. */
export function isServicePath(path: string): boolean {
  return /^\/(?:v1|health)(?:[/?#]|$)/.test(path);
}

/** The start of every path of the service except that of its health. */
export const VERSION_PATH = '/v1';
