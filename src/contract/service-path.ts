/** Returns whether a path, or what follows the base URL, belongs to the service, whether or not it exists there. */
export function isServicePath(path: string): boolean {
  return /^\/(?:v1|health)(?:[/?#]|$)/.test(path);
}
