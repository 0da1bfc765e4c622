/**
 * A receiver in a process of its own, from the build that the first argument names. It prints its URL and then what
 * comes in, a line of JSON each. It takes the secret of the webhook, when it is known, as a line of text.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { createReceiver } = await import(pathToFileURL(process.argv[2]).href);
const receiver = createReceiver({ answers: [500] });
const lines = createInterface({ input: process.stdin });
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

print({ url: await receiver.listen() });
const [secret] = await once(lines, 'line');
receiver.secret = secret;
print({ secret: 'taken' });

for (let count = 1; ; count += 1) {
  const { headers, json, verified, problem } = (await receiver.received(count, 60_000))[count - 1] ?? {};
  print({ id: headers?.['webhook-id'], timestamp: headers?.['webhook-timestamp'], json, verified, problem });
}
