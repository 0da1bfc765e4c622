// Reads the handlers with an msw that is too old, which npm installs only if it is forced.
import { createRequire } from 'node:module';
import { createMailbox } from 'agent-mailbox-mock';

const SENTENCE =
  'The handlers of a mailbox need msw 2.13.0 or newer, and msw 2.7.6 is installed; ' +
  'install a newer one with npm install --save-dev msw@2.';
const required = createRequire(import.meta.url)('agent-mailbox-mock');

for (const create of [createMailbox, required.createMailbox]) {
  const mailbox = create();
  const { status } = await mailbox.fetch(`${mailbox.baseUrl}/v1/me`, {
    headers: { 'X-API-Key': mailbox.keys.acme.tenant },
  });
  if (status !== 200) throw new Error(`The mailbox answers ${status}, and 200 is right.`);
  const message = messageOf(() => mailbox.handlers);
  if (message !== SENTENCE) throw new Error(`With msw 2.7.6, handlers say: ${message}`);
}

function messageOf(run) {
  try {
    run();
    return 'no error';
  } catch (error) {
    return error.message;
  }
}
