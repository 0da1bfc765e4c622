import { mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NAME } from '../../basics/version.ts';
import { CannotRunError, quote, type RunCommand, type Terminal, textOfFlag, UsageError } from '../command.ts';
import { DEFAULT_FIXTURE_FILE, explainWriteError } from '../files.ts';
import { checkOutput, OUTPUT_KINDS, type OutputOptions, readForce, writeOutput } from '../output-file.ts';
import { CI_FILES } from './ci-files.ts';

/**
 * Writes the starter fixture or, with `--scenarios`, the scenarios of the package and, with `--ci`, a workflow. Replaces a
 * file that exists only with `--force`.
 */
export const init: RunCommand = async (terminal, flags, argument) => {
  const writesScenarios = flags.scenarios?.value === true;
  const service = textOfFlag(flags.ci);
  if (service !== undefined && service !== 'github' && service !== 'gitlab') {
    throw new UsageError(`The service of --ci must be github or gitlab, not ${quote(service)}.`);
  }
  if (writesScenarios && service !== undefined && argument !== undefined) {
    throw new UsageError(
      `With both --scenarios and --ci, ${quote(argument)} cannot be the place of both; leave it out.`,
    );
  }
  if (writesScenarios) await writeScenarios(terminal, argument ?? DEFAULT_SCENARIO_FOLDER, readForce(flags));
  if (service !== undefined) await writeWorkflow(terminal, service, argument, readForce(flags));
  if (writesScenarios || service !== undefined) return;
  const file = argument ?? DEFAULT_FIXTURE_FILE;
  await writeOutput(file, OUTPUT_KINDS.handMade, STARTER_FIXTURE, readForce(flags));
  const fileFlag =
    file === DEFAULT_FIXTURE_FILE ? '' : ` --fixtures ${/^[\w./@:+-]+$/.test(file) ? file : JSON.stringify(file)}`;
  terminal.out(`Wrote ${file}. Change it, then run: npx ${NAME}${fileFlag}`);
};

/** Writes the file by which a service runs the command evaluate. */
async function writeWorkflow(
  { out }: Terminal,
  service: keyof typeof CI_FILES,
  argument: string | undefined,
  options: OutputOptions,
): Promise<void> {
  const { file: usual, text } = CI_FILES[service];
  const file = argument ?? usual;
  await mkdir(dirname(file), { recursive: true }).catch((error: unknown) => {
    throw explainWriteError(error, file);
  });
  await writeOutput(file, OUTPUT_KINDS.handMade, text, options);
  out(
    `Wrote ${file}. Put the command that starts your agent into it, in place of: node agent.js. It runs the scenarios in the folder scenarios, which npx ${NAME} init --scenarios writes.`,
  );
}

/** The default folder of `init --scenarios`. */
const DEFAULT_SCENARIO_FOLDER = 'scenarios';

/** The folder with the scenarios: of the package or, if the command runs from its source, of the repository. */
const SCENARIO_FOLDERS = ['../fixtures/scenarios/', '../../../fixtures/scenarios/'];

/** The first line of a file of scenarios: while the emulator runs, an editor completes names by this schema. */
const SCHEMA_LINE = '# yaml-language-server: $schema=http://127.0.0.1:4025/__mock/scenario.schema.json\n';

/** Copies the scenarios into a folder, in which a file is replaced only with `--force`. */
async function writeScenarios({ out }: Terminal, folder: string, options: OutputOptions): Promise<void> {
  const lists = await Promise.allSettled(
    SCENARIO_FOLDERS.map(async (path) => {
      const source = new URL(path, import.meta.url);
      const names = (await readdir(source)).filter((name) => name.endsWith('.yaml')).sort();
      return Promise.all(names.map(async (name) => ({ name, text: await readFile(new URL(name, source), 'utf8') })));
    }),
  );
  const files = lists.find((list) => list.status === 'fulfilled')?.value;
  if (!files) throw new CannotRunError('The scenarios are not in this package; install it again.');
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw explainWriteError(error, folder);
  });
  // All are checked before the first is written, so that nothing is written if one may not be replaced.
  for (const { name } of files) await checkOutput(join(folder, name), OUTPUT_KINDS.handMade, options);
  for (const { name, text } of files) {
    await writeOutput(join(folder, name), OUTPUT_KINDS.handMade, SCHEMA_LINE + text, options);
  }
  out(
    `Wrote ${files.length} scenarios into ${folder}. Run them: npx ${NAME} evaluate ${folder} -- <the command of your agent>`,
  );
}

/** The file that `init` writes: a fixture that works unchanged, with comments that explain the format. */
export const STARTER_FIXTURE = `// The data that the emulated mailbox service starts with.
// An id, key, name, time or address that is left out is derived from the handles ("acme", "support", …), so it is the
// same in every run.
{
  // While the emulator runs, an editor completes names by this schema.
  "$schema": "http://127.0.0.1:4025/__mock/fixture.schema.json",
  "tenants": {
    // A tenant. Its key is tk_acme_tenant_key.
    "acme": {
      "workspaces": {
        // The first workspace is the default workspace. Its key is wk_acme_support_key.
        "support": {
          "inboxes": {
            // The address of this inbox is helpdesk@acme.test. Its key is ak_acme_helpdesk_key.
            "helpdesk": {
              "displayName": "Acme Helpdesk",
              "messages": [
                {
                  "from": "Dana Reyes <dana@customer.test>",
                  "subject": "Cannot log in",
                  "plainBody": "Since this morning the login page says that my password has expired.",
                  "messageIdHeader": "<login-1@customer.test>",
                  // An attachment has its content in "text", or in "content" as base64.
                  "attachments": [{ "filename": "error.txt", "contentType": "text/plain", "text": "403 Forbidden" }],
                },
                {
                  // A reply belongs to the thread of the message that "inReplyTo" names.
                  "direction": "outbound",
                  "to": "dana@customer.test",
                  "subject": "Re: Cannot log in",
                  "plainBody": "We have sent you a link to set a new one.",
                  "inReplyTo": "<login-1@customer.test>",
                },
              ],
              // A draft refers to the message that it replies to by its Message-ID header or by its id.
              "drafts": [
                { "to": "dana@customer.test", "subject": "Thank you!", "replyToMessageId": "<login-1@customer.test>" },
              ],
              "lists": {
                "customers": { "entries": ["dana@customer.test"] },
              },
            },
          },
        },
      },
      "domains": {
        // The domain acme.test exists already and is verified, because an inbox uses it.
        // A workspace can also have its own domain, which is pending until it is verified.
        "mail.acme.test": { "workspace": "support", "status": "pending" },
      },
      "webhooks": {
        // A webhook gets every event of the tenant, unless it has "events" or "workspace".
        // The emulator calls its URL, so your code should listen there.
        "audit": { "url": "http://127.0.0.1:9999/audit" },
      },
    },
  },
}
`;
