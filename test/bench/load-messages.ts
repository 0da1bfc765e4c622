// A child process: `load-messages.ts <messages> <characters of each>`. It loads a fixture file with so many messages as
// the command does, and tells its parent how many ms that takes, and how many MB stay in use.
import { createMailbox } from 'agent-mailbox-mock';
import { parseJsonc } from '../../src/cli/read-fixture.ts';
import { usedMemory } from './count-bytes.ts';
import { createMessagesFixture } from './messages-fixture.ts';

process.once('disconnect', () => process.exit());

const [count, bodyLength] = process.argv.slice(2).map(Number);
const file = Buffer.from(JSON.stringify(createMessagesFixture(count ?? 0, bodyLength ?? 0)));
const before = await usedMemory();
const startedAt = performance.now();
const mailbox = createMailbox({ fixtures: parseJsonc(file.toString('utf8')) as never });
const ms = performance.now() - startedAt;
const megabytes = ((await usedMemory()) - before) / 1024 ** 2;
process.send?.({ ms, megabytes, baseUrl: mailbox.baseUrl });
