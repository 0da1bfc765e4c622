import { expect, test } from 'vitest';
import { FOLDER_NAMES, matchFolders } from '../../../src/service/imap/folder.ts';

test.for([
  ['*', FOLDER_NAMES],
  ['%', FOLDER_NAMES],
  ['inbox', ['INBOX']],
  ['in%', ['INBOX']],
  ['sent', []],
  ['Sent', ['Sent']],
  ['Se%', ['Sent']],
  ['%nt', ['Sent']],
  ['X%nt', []],
  ['Se%x', []],
  ['S*n*t', ['Sent']],
  ['Sent%Sent', []],
  ['Sen%nt', []],
  ['Sen%t', ['Sent']],
  ['Sent%', ['Sent']],
  ['%a%h', ['Trash']],
  ['T*s*a*h', []],
] as const)('the pattern %j of LIST matches %j', ([pattern, folders]) => {
  expect(matchFolders(pattern)).toEqual(folders);
});
