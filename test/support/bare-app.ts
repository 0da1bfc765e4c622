import type { Mailbox } from 'agent-mailbox-mock';
import { createEnvironment } from '../../src/environment.ts';
import { createApp } from '../../src/server/http/app.ts';

/** The application of a mailbox as it is by default, for tests that give its HTTP server limits of their own. */
export function createBareApp(mailbox: Mailbox) {
  const none = new Set<string>();
  return createApp({
    mailbox,
    allowedHosts: none,
    allowedOrigins: none,
    controlToken: undefined,
    report: createEnvironment().report,
    log: undefined,
  });
}
