/** A folder of `src/`: what belongs in it, what does not, and its parts, each with what it is. */
interface Room {
  readonly belongs: string;
  readonly not: string;
  readonly parts?: Readonly<Record<string, string>>;
}

/** The rooms of `src/`, lowest first: a file may import from its own room and from those before it. */
export const ROOMS: Readonly<Record<string, Room>> = {
  basics: {
    belongs:
      'small helpers: JSON paths, base64, sizes, durations, percentages, plurals, URLs, the form and the check of options, named errors, suggestions for a wrong word, the version',
    not: 'anything that knows of mail, of HTTP or of the service',
  },
  contract: {
    belongs: 'the document as data: operations, replies, schemas, errors, events, tiers, limits of mail',
    not: 'code that runs for a request; anything that is stored',
    parts: {
      operations: 'a file for each resource: its operations, and the schemas of their replies',
      behaviours: 'the ledger of what the document leaves open',
      addresses: 'addresses of mail, lists of them, and their schemas',
      openapi: 'the OpenAPI document, made from the tables',
      client: 'the client of the operations, for tests; of the rest of the room it imports only types',
    },
  },
  fixture: {
    belongs:
      'the format of fixtures: schema, defaults, checks, also of names such as handles and host names, and the keys and ids by handle',
    not: 'files, and how rows get into the store',
  },
  world: {
    belongs:
      'what one tenant has: rows, a clock, faults; what comes from outside as an argument: time, randomness, `fetch`',
    not: 'what happens to a request or a mail',
    parts: {
      store:
        'worlds, rows, collections with their indexes, seeding; the parts of a world and of the mailbox, and what is saved of each of these owners; `database.ts` imports `@mswjs/data`',
      secrets: 'what is a secret in a text, in each usual encoding, and how it is hidden',
      journal: 'the journal: what has happened, its budgets, and those who want to know of it',
    },
  },
  service: {
    belongs: 'what happens to a request or a mail',
    not: 'sockets; what a test may do and a client may not',
    parts: {
      journal: 'what the service and its controls write into the journal: every kind of entry, and its data',
      access: 'from credentials to the principal, and to the resources in its scope',
      pipeline: 'the handling of one request, and the only place that turns an exception into a reply',
      operations: 'the code of each operation: (context, input) → outcome, synchronous',
      mail: '`outgoing/` sends, `incoming/` receives, `mime/` reads and writes RFC 5322, `correspondents/` are people and programs outside that answer',
      delivery: 'webhook deliveries: payload, signature, attempts, retries, the log',
      stream: 'WebSocket clients: admission, subscriptions, frames',
      imap: 'the folders of an inbox over IMAP: UIDs, flags, search, structure, moves',
    },
  },
  control: {
    belongs: 'what a test may do and a client may not; sandboxes are tenants that a test creates for itself',
    not: 'sockets; anything that the service needs to answer a client',
    parts: {
      table: 'the control calls: one row each, their replies, and their client',
      journal:
        'requests and entries as control calls show them, and the live feed; `from-entries/` is what control calls and the page on a trace both compute from these',
      mail: 'the mail of all inboxes, as rows: search, details, waits, removal',
      state:
        'reset, checkpoints, differences, export; the whole state as a value, when it has changed, and its storage in a page; `server/` reads and writes the file of `--state`',
      samples: 'mails that agents often handle wrongly: a table for each family',
      faults:
        'the options of faults, in full and by name, and what becomes of them; `world/` has the faults that are set',
      verdicts:
        'what judges, from the journal alone: texts and addresses of a mail, causes, comparison with what is expected, when an agent has stopped, oracles, stories',
      assertions: 'what tests and scenarios expect of an agent: what each expectation takes, and its messages',
    },
  },
  mailbox: {
    belongs:
      'where all parts are put together, the options of a mailbox with their help, the adapters for fetch and msw, the errors for an msw that is missing or too old, and what the main entry exports',
    not: 'decisions that belong to one part; `node:*`',
  },
  server: {
    belongs:
      'everything about sockets and files: `startServer`, its settings, the log, calls to receivers, the state file (its lines, its lock, and its replacement), the middleware for express',
    not: 'flags and commands',
    parts: {
      http: 'HTTP requests, guards, pages, event streams, msw handlers that a user brings',
      mcp: 'the Model Context Protocol: operations and control calls as tools',
      mail: 'mail over SMTP, and `imap/`: its commands, and the connections of its clients',
    },
  },
  testing: {
    belongs: 'what test runners use',
    not: 'anything that the emulator itself needs',
    parts: {
      matchers: 'the entry that registers the assertions with a test runner; `control/assertions/` has them',
      vitest: 'a mailbox for each test, and the routing of requests to it',
      client: 'the entry of the clients: of the operations, and of a running emulator',
      playwright: 'a sandbox for each test',
      samples: 'the entry of the samples, and the run of an agent on them and their twins',
      receiver: 'the webhook receiver; depends on nothing else here',
    },
  },
  evaluate: {
    belongs:
      'scenarios for agents: their format with its schema and the helpers for that, agents, a trial, many trials, what they show, and the reports',
    not: 'judging, which is in `control/verdicts/`; flags',
    parts: { skills: 'how a coding assistant tests a mail agent, and writes a scenario' },
  },
  verify: {
    belongs: 'the comparison of a server, or of a recording, with the document and the ledger',
    not: 'anything that another room needs; flags',
  },
  cli: {
    belongs: 'the command: flags, help, files, exit codes',
    not: 'anything that `startServer` offers too',
    parts: {
      commands: 'one file for each command, loaded when it runs, and what only commands need',
    },
  },
  inspector: {
    belongs:
      'the page: a browser program that uses only control calls; from other rooms it imports only types, their client, and `control/journal/from-entries/`',
    not: 'anything that Node runs',
    parts: {
      views: 'a folder for each view: mail, deliveries with the check of signatures, requests, keys, settings',
    },
  },
};

/** The rooms that have no page for users: their README says what belongs in them. */
export const ROOMS_WITHOUT_PAGE: readonly string[] = ['basics', 'world', 'service', 'mailbox', 'testing'];
