import { defaultFixture } from '../../fixture/default-fixture.ts';
import { listInboxes, messagesOf } from '../../server/mail-files.ts';
import type { Terminal } from '../command.ts';
import { readFixture } from '../read-fixture.ts';
import { addMail } from './add-mail.ts';
import type { StartSettings } from './start-settings.ts';

/** The number of messages from which it is said what was loaded, because it has taken a while. */
const MANY_MESSAGES = 1000;

/** Reads the data of an emulator: a fixture file, or else the default fixture, and mail files. */
export async function readData(
  { fixtures: file, mail }: Pick<StartSettings, 'fixtures' | 'mail'>,
  say: (line: string) => void,
  showStatus?: Terminal['showStatus'],
): Promise<{ readonly fixtures: unknown; readonly isLarge: boolean }> {
  const fixture = file === undefined ? defaultFixture : await readFixture(file, say);
  const fixtures = await addMail(fixture, mail, createProgress(showStatus));
  const count = listInboxes(fixtures).reduce((sum, { inbox }) => sum + messagesOf(inbox).length, 0);
  const isLarge = count >= MANY_MESSAGES;
  if (isLarge) showStatus?.(`Loading ${show(count)} messages`);
  return { fixtures, isLarge };
}

/** How long the work has taken when the first status is shown, and the time between two of them. */
const DELAY_MS = 300;
const INTERVAL_MS = 100;

/** Returns a function that shows how much mail was read, unless it has shown that just before. */
function createProgress(showStatus: Terminal['showStatus']): (read: number, all: number) => void {
  let next = performance.now() + DELAY_MS;
  return (read, all) => {
    if (performance.now() < next) return;
    showStatus?.(`Reading mail: ${show(read)} of ${show(all)}`);
    next = performance.now() + INTERVAL_MS;
  };
}

function show(count: number): string {
  return count.toLocaleString('en');
}
