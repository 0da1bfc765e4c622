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

test.for([
  [{ tlsRequired: 'yes' }, 'The option tlsRequired must be true or false, not "yes".'],
  [{ verbose: 1 }, 'The option verbose must be true or false, not 1.'],
  [{ allowHosts: 'a.example' }, 'The option allowHosts must be a list, not "a.example".'],
  [
    { allowHosts: ['a.example:80'] },
    'The option allowHosts takes host names such as "mailbox.example", without a port, not "a.example:80".',
  ],
  [{ controlToken: 'short' }, 'The option controlToken must be 16 to 256 letters, digits and -._+/=.'],
  [{ state: null }, 'The option state must be the name of a file, not null.'],
  [{ maxMailBytes: '1GiB' }, 'The option maxMailBytes must be a whole number of bytes above 0, not "1GiB".'],
  [{ seed: 0.5 }, 'The option seed must be a whole number from 0 to 9007199254740991, not 0.5.'],
] as const)('startServer refuses the value of %j', async ([options, said], { expect }) => {
  await expect(startServer({ port: 0, ...(options as object) })).rejects.toThrow(said);
});
