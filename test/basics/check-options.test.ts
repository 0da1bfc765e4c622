import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { test } from 'vitest';

test.for([
  [{ jurnalSize: 5 }, 'createMailbox has no option "jurnalSize"; did you mean journalSize? There are: '],
  [{ port: 0 }, 'createMailbox has no option "port"; there are: '],
])('createMailbox refuses %j', ([options, said], { expect }) => {
  expect(() => createMailbox(options as object)).toThrow(said as string);
});

test.for([
  [{ jurnalSize: 5 }, 'startServer has no option "jurnalSize"; did you mean journalSize? There are: '],
  [{ prot: 0 }, 'startServer has no option "prot"; did you mean port? There are: '],
])('startServer refuses %j', async ([options, said], { expect }) => {
  await expect(startServer(options as object)).rejects.toThrow(said as string);
});
