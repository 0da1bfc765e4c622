/** Returns whether a path belongs to the service, and not to the control plane. There may be no operation for it. */
export function isServicePath(path: string): boolean {
  return /^\/(?:v1|health)(?:[/?#]|$)/.test(path);
}

/** The start of every path of the service, except `/health`. */
export const VERSION_PATH = '/v1';
