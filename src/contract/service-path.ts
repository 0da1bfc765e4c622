/** Returns whether a path is one of the service and not of the control plane. There need not be an operation for it. */
export function isServicePath(path: string): boolean {
  return /^\/(?:v1|health)(?:[/?#]|$)/.test(path);
}

/** The start of every path of the service, except `/health`. */
export const VERSION_PATH = '/v1';
