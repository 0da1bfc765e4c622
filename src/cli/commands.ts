import type { Command } from './command.ts';
import { DEFAULT_FIXTURE_FILE, DEFAULT_PYTHON_FILE } from './files.ts';
import * as FLAGS from './flags.ts';

/** Every command, by name. A command loads its code only when it runs, so that help does not load the server. */
export const COMMANDS = {
  start: {
    help: 'Run the emulator (the default command)',
    examples: [
      ['', 'Run it with the default data'],
      ['-p 0 -f mailbox.jsonc --watch', 'Run it on a free port with your own data, loaded again after each change'],
      [
        '-f mailbox.jsonc --mail ~/Maildir --smtp-port 2525',
        'Start with the mail of a Maildir, and accept more over SMTP',
      ],
    ],
    flags: FLAGS.START_FLAGS,
    load: async () => (await import('./commands/start.ts')).start,
  },
  exec: {
    help: 'Start an emulator, run another command, and stop the emulator when the command ends',
    runsOtherCommand: true,
    examples: [['exec -- npm test', 'Run your tests beside an emulator']],
    flags: FLAGS.EXEC_FLAGS,
    load: async () => (await import('./commands/exec.ts')).exec,
  },
  receive: {
    help: 'Deliver an inbound message to a running emulator',
    examples: [
      ['receive --sample two-from --to helpdesk@acme.test', 'Deliver a mail that agents often handle wrongly'],
      ['receive --eml mail.eml', 'Deliver the mail in a file to the inboxes that its header names'],
    ],
    flags: FLAGS.RECEIVE_FLAGS,
    load: async () => (await import('./commands/receive.ts')).receive,
  },
  wait: {
    help: 'Wait for a mail in a running emulator, and print it, or only its code or its link',
    examples: [
      ['wait --to dana@customer.test --code', 'Print the code in the newest mail to this address'],
      ['wait --to dana@customer.test --subject Invoice', 'Wait for a mail and print it'],
    ],
    flags: FLAGS.WAIT_FLAGS,
    load: async () => (await import('./commands/wait.ts')).wait,
  },
  story: {
    help: 'Print what became of a mail in a running emulator, such as why an agent did not answer it',
    argument: '<mail>',
    examples: [['story 910be000-0006-4000-8000-000000000001', 'Explain the mail with this id']],
    flags: FLAGS.STORY_FLAGS,
    load: async () => (await import('./commands/story.ts')).story,
  },
  samples: {
    help: 'List the sample mails that the command receive can deliver, or explain one',
    argument: '[list|name]',
    examples: [['samples two-from', 'Explain one sample']],
    flags: FLAGS.SAMPLES_FLAGS,
    load: async () => (await import('./commands/samples.ts')).listSamples,
  },
  trigger: {
    help: 'Trigger an event in a running emulator',
    argument: '<event>',
    examples: [['trigger message.received --set subject=Hello', 'Deliver this event to each subscribed webhook']],
    flags: FLAGS.TRIGGER_FLAGS,
    load: async () => (await import('./commands/trigger.ts')).trigger,
  },
  listen: {
    help: 'Print each delivery of a running emulator, and send it on to another URL',
    examples: [['listen --forward-to http://127.0.0.1:3000/hook', 'Send each delivery on to your own receiver']],
    flags: FLAGS.LISTEN_FLAGS,
    load: async () => (await import('./commands/listen-to-deliveries.ts')).listenToDeliveries,
  },
  logs: {
    help: 'Show what happened in a running emulator',
    examples: [['logs --follow', 'Show what happened, and what happens from now on']],
    flags: FLAGS.LOGS_FLAGS,
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  show: {
    help: 'Print what happened to each mail of a trace, a file that exec --trace or a failed test has written',
    argument: '<file>',
    examples: [
      ['show trace.jsonl', 'Print the stories of a trace'],
      ['show trace.jsonl --open', 'Look at a trace in the views of the inspector'],
    ],
    flags: FLAGS.SHOW_FLAGS,
    load: async () => (await import('./commands/show.ts')).show,
  },
  mcp: {
    help: 'Let a program use an emulator over the Model Context Protocol (MCP): control it, or read and send mail',
    examples: [
      ['mcp', 'Control an emulator that this command starts'],
      ['mcp --as helpdesk@acme.test --url http://127.0.0.1:4025', 'Give an agent the mail tools of this inbox'],
    ],
    flags: FLAGS.MCP_FLAGS,
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  verify: {
    help: 'Compare a server with the service document and the list of behaviours, and show what differs',
    examples: [['verify --base-url https://api.example.com --api-key tk_…', 'Compare a server with the emulator']],
    flags: FLAGS.VERIFY_FLAGS,
    load: async () => (await import('./commands/verify-command.ts')).verify,
  },
  evaluate: {
    help: 'Run scenarios with an agent, in any language, and show which of them it passes and why not',
    argument: '<file|folder>…',
    runsOtherCommand: 'may',
    examples: [
      [
        'evaluate scenarios/ --repeat 5 -- node agent.js',
        'Run each scenario five times, with the agent started for each',
      ],
      [
        'evaluate scenarios/ --repeat 5 --require 0.8 -- ./agent',
        'Fail unless at least four of five trials of each scenario pass',
      ],
      [
        'evaluate scenarios/ --agent a="node a.js" --agent b=./b',
        'Run each scenario with both agents, in trials that are pairs',
      ],
      ['evaluate compare before.json after.json', 'Say what got better or worse, and what is within chance'],
      ['evaluate compare report.json', 'Say in what the agents of one report differ'],
    ],
    flags: FLAGS.EVALUATE_FLAGS,
    load: async () => (await import('./commands/evaluate-command.ts')).evaluateCommand,
  },
  profile: {
    help: 'Write the default value of each behaviour into a file, which start --profile reads',
    argument: '<init>',
    flags: FLAGS.PROFILE_FLAGS,
    load: async () => (await import('./commands/profile.ts')).profile,
  },
  fleet: {
    help: 'Print the configuration of nginx, HAProxy or Kubernetes that spreads sandboxes over several processes',
    argument: '<nginx|haproxy|kubernetes>',
    flags: FLAGS.FLEET_FLAGS,
    load: async () => (await import('./commands/fleet.ts')).fleet,
  },
  init: {
    help: `Write a starter fixture with comments (default ${DEFAULT_FIXTURE_FILE})`,
    argument: '[file]',
    examples: [
      ['init --scenarios', 'Write 24 scenarios for the command evaluate into the folder scenarios'],
      ['init --ci github', 'Write a workflow that evaluates an agent in each pull request'],
    ],
    flags: FLAGS.INIT_FLAGS,
    load: async () => (await import('./commands/init.ts')).init,
  },
  validate: {
    help: 'Check a fixture file and list each problem with its path',
    argument: '<file>',
    flags: {},
    load: async () => (await import('./commands/validate.ts')).validate,
  },
  openapi: {
    help: 'Print the OpenAPI document of the service, or write it to a file',
    argument: '[file]',
    examples: [['openapi openapi.json', 'Write the document, for example to generate a client from it']],
    flags: FLAGS.OPENAPI_FLAGS,
    load: async () => (await import('./commands/print-openapi.ts')).printOpenApi,
  },
  client: {
    help: `Write the client for Python, of an emulator and of its service (default ${DEFAULT_PYTHON_FILE})`,
    argument: '<python>',
    secondArgument: '[file]',
    examples: [['client python', 'Write it beside your tests']],
    flags: FLAGS.CLIENT_FLAGS,
    load: async () => (await import('./commands/write-client.ts')).writeClient,
  },
  behaviours: {
    help: 'List the behaviours that the service document leaves open, or explain one',
    argument: '[id]',
    examples: [['behaviours messages.list.order', 'Explain one behaviour and its values']],
    flags: FLAGS.BEHAVIOURS_FLAGS,
    load: async () => (await import('./commands/behaviours.ts')).behaviours,
  },
} as const satisfies Record<string, Command>;

/** The name of a command, such as `start`. */
export type CommandName = keyof typeof COMMANDS;

/** The command that runs if none is named. */
export const DEFAULT_COMMAND: CommandName = 'start';
