// A child process: `count-sandbox-memory.ts 1000` tells its parent how many MB so many sandboxes need.
import { createMailbox } from 'agent-mailbox-mock';
import { usedMemory } from './count-bytes.ts';

process.once('disconnect', () => process.exit());

const mailbox = createMailbox();
mailbox.createSandbox().close();
const before = await usedMemory();
const sandboxes = Array.from({ length: Number(process.argv[2]) }, () => mailbox.createSandbox());
process.send?.(((await usedMemory()) - before) / 1024 ** 2);

// The sandboxes stay in use until here.
if (mailbox.sandboxes().length !== sandboxes.length) throw new Error('Some sandboxes are missing.');
