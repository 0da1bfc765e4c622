import type { z } from 'zod';
import { clientFrame } from '../contract/stream-protocol.ts';

type ClientFrame = z.output<typeof clientFrame>;

/** Reads a frame of a client: what it says, or as a text for the client what is wrong with it. */
export function readFrame(data: unknown): ClientFrame | string {
  const parsed = clientFrame.safeParse(readJson(data));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')} ${message}`.trim());
  return `The frame is not valid: ${problems.join('; ')}.`;
}

/** What a text says as JSON; `undefined` where it is none. */
function readJson(data: unknown): unknown {
  try {
    return typeof data === 'string' ? JSON.parse(data) : undefined;
  } catch {
    return undefined;
  }
}
