import type { Mailbox } from 'agent-mailbox-mock';
import { buildMailbox } from '../../src/mailbox/mailbox.ts';
import { App, type AppOptions } from '../../src/server/http/app.ts';
import { Intake } from '../../src/server/intake.ts';
import { WaitingOutput } from '../../src/server/waiting-output.ts';
import { WorkQueue } from '../../src/server/work-queue.ts';

/**
 * A mailbox with its application as they are by default, except for some options, for tests that give its HTTP server
 * limits of their own.
 */
export function createBareApp(internals = buildMailbox({}), options: Partial<AppOptions> = {}) {
  const none = new Set<string>();
  const app = new App({
    internals,
    userHandlers: undefined,
    allowedHosts: none,
    allowedOrigins: none,
    process: {},
    controlToken: undefined,
    log: undefined,
    verbose: false,
    intake: new Intake(internals.environment),
    output: new WaitingOutput(internals.environment, undefined),
    work: new WorkQueue(),
    ...options,
  });
  return { app, mailbox: internals.mailbox as Mailbox };
}
