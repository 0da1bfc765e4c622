/** A part of the package on top of the emulator, which can be left out: nothing below it knows of it. */
export interface Product {
  /** Its room. */
  readonly room: string;
  /** The files elsewhere that are its own: its command, for example. */
  readonly files: readonly string[];
  /** The names of its rows and fields elsewhere: of commands, flags, control calls, entries of the package and the build. */
  readonly names: readonly string[];
  /** What it may import of other rooms, besides what every product may. */
  readonly imports: readonly string[];
}

/** What every product may import: helpers, the contract, the control plane's rows and verdicts, and the public entries. */
export const PUBLIC_PLACES: readonly string[] = [
  'src/basics/',
  'src/contract/',
  'src/control/assertions/',
  'src/control/table/',
  'src/control/verdicts/',
  'src/mailbox/without-msw.ts',
  'src/server/index.ts',
];

/** The products, by name. */
export const PRODUCTS: Readonly<Record<string, Product>> = {
  matchers: {
    room: 'testing',
    files: [],
    names: [
      ...['receiver', 'samples', 'matchers', 'vitest', 'playwright'].map((entry) => `agent-mailbox-mock/${entry}`),
      ...['vitest', 'vitest.browser', 'playwright'],
    ],
    imports: [
      // The types of a mailbox with the handles of its fixture, and the handlers of msw.
      'src/control/mailbox-interface.ts',
      'src/control/controllable-mailbox.ts',
      'src/fixture/keys-and-ids.ts',
      'src/mailbox/',
      // The key by which a request finds its mailbox.
      'src/service/access/principal.ts',
      // A receiver in the process of a test.
      'src/control/webhook-receiver.ts',
      'src/service/mail/incoming/accept-message.ts',
      // The samples, and when a mail was handled.
      'src/control/samples/',
    ],
  },
  evaluate: {
    room: 'evaluate',
    files: [
      'src/cli/commands/evaluate-agents.ts',
      'src/cli/commands/evaluate-command.ts',
      'src/server/http/read-evaluate-schema.ts',
    ],
    names: [
      ...['evaluate', 'EVALUATE_FLAGS', 'agent-mailbox-mock/evaluate', 'writeEvaluateSchema'],
      ...['getScenarioSchema', 'getEvaluationSchema', 'readEvaluateSchema'],
    ],
    imports: [
      // What steps do: types of control calls, and the forms of times.
      'src/control/journal/from-entries/',
      'src/control/mail/mail-filter.ts',
      'src/control/mailbox-clock.ts',
      'src/control/settled.ts',
      'src/control/call-fields.ts',
      'src/control/correspondent-options.ts',
      'src/control/faults/',
      // The control call of a request of the agent.
      'src/service/pipeline/router.ts',
      // The samples that scenarios deliver.
      'src/control/samples/',
      // The fixture of a trial, with new secrets and with mail files.
      'src/fixture/',
      'src/server/mail-files.ts',
      'src/world/environment.ts',
      // An emulator whose control plane has a second token, for the agent.
      'src/server/start-server.ts',
      'src/server/http/app.ts',
      // The processes of an agent, and files of scenarios.
      'src/server/process-tree.ts',
      'src/server/regular-file.ts',
      // The report is the page with its trials.
      'src/server/http/trace-page.ts',
    ],
  },
  verify: {
    room: 'verify',
    files: ['src/cli/commands/verify-command.ts'],
    names: ['verify', 'VERIFY_FLAGS', 'agent-mailbox-mock/verify'],
    imports: [
      // The receiver of webhooks listens as a server does.
      'src/server/loopback.ts',
      // What is in a raw mail.
      'src/service/mail/incoming/parse-eml.ts',
      // The operation of a recorded request.
      'src/service/pipeline/router.ts',
      // No secret is printed.
      'src/world/secrets/',
    ],
  },
  inspector: {
    room: 'inspector',
    files: [],
    names: [],
    imports: [
      // The types of entries, requests and lines of a trace.
      'src/control/journal/',
      'src/control/trace.ts',
      'src/service/delivery/delivery.ts',
      'src/service/journal/entry-kinds.ts',
      'src/control/faults/named-faults.ts',
    ],
  },
};
