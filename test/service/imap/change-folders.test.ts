import { describe, expect, test } from 'vitest';
import { type ImapTestServer, startImap, toMail } from '../../support/imap-server.ts';
import { readFetch } from '../../support/imap-talk.ts';

/** Returns where the API has a message. */
async function placeOf(running: ImapTestServer, id: string): Promise<string> {
  const { tenants } = running.server.mailbox.snapshot();
  const message = tenants.flatMap(({ messages }) => messages).find((each) => each.id === id);
  if (!message) return 'gone';
  if (message.deletedAt !== null) return 'trash';
  return message.isArchived ? 'archive' : message.direction;
}

/** The table of moves: where a message is, where it goes, and where the API has it then. */
const MOVES = [
  ['INBOX', 'Archive', 'archive'],
  ['INBOX', 'Trash', 'trash'],
  ['Archive', 'INBOX', 'inbound'],
  ['Archive', 'Trash', 'trash'],
  ['Trash', 'INBOX', 'inbound'],
  ['Trash', 'Archive', 'archive'],
] as const;

async function startIn(running: ImapTestServer, folder: string) {
  const id = await running.receive('Moved');
  if (folder === 'Archive') await running.api('PATCH', `/messages/${id}`, { isArchived: true });
  if (folder === 'Trash') await running.api('DELETE', `/messages/${id}`);
  const talk = await running.session(folder);
  const [found] = await talk.ok(`UID SEARCH EMAILID ${id}`);
  return { id, talk, uid: found?.split(' ')[1] ?? '' };
}

const idAt = async (running: ImapTestServer, folder: string, uid: string) => {
  const talk = await running.session(folder);
  const [line = ''] = await talk.ok(`UID FETCH ${uid} EMAILID`);
  return readFetch(line).EMAILID;
};

describe('IMAP moves', () => {
  test('SEARCH finds a mail by its EMAILID and its thread by its THREADID, and nothing by those of no mail', async () => {
    await using running = await startImap();
    const [one, other] = [await running.receive('One'), await running.receive('Other')];
    const talk = await running.session('INBOX');
    const [line = ''] = await talk.ok(`UID SEARCH EMAILID ${one}`);
    const uid = line.split(' ')[1] ?? '';
    const [fetched = ''] = await talk.ok(`UID FETCH ${uid} (EMAILID THREADID)`);
    const { EMAILID, THREADID } = readFetch(fetched);
    expect(EMAILID).toEqual([one]);
    expect(await talk.ok(`UID SEARCH THREADID ${[THREADID].flat()[0]}`)).toContain(`SEARCH ${uid}`);
    expect(await talk.ok(`UID SEARCH EMAILID ${other}`)).not.toContain(`SEARCH ${uid}`);
    expect(await talk.ok(`UID SEARCH EMAILID ${crypto.randomUUID()}`)).toContain('SEARCH');
    expect(await talk.ok(`UID SEARCH THREADID ${one}`)).toContain('SEARCH');
  });

  test('COPY of a mail that another session has expunged copies nothing, and says so', async () => {
    await using running = await startImap();
    const { talk, uid } = await startIn(running, 'INBOX');
    const second = await running.session('INBOX');
    await second.ok(`UID STORE ${uid} +FLAGS.SILENT (\\Deleted)`);
    await second.ok('EXPUNGE');
    const { result } = await talk.command(`UID COPY ${uid} Archive`);
    expect(result).not.toContain('COPYUID');
    const archive = await running.session('Archive');
    expect(await archive.ok('SEARCH SUBJECT Moved')).toContain('SEARCH');
  });

  test.for(MOVES)('MOVE from %s to %s is what the API does: %s', async ([from, to, place]) => {
    await using running = await startImap();
    const { id, talk, uid } = await startIn(running, from);
    const lines = await talk.ok(`UID MOVE ${uid} ${to}`);
    const [, moved = ''] = /COPYUID \d+ \d+ (\d+)/.exec(lines.join()) ?? [];
    expect(lines.join()).toContain('EXPUNGE');
    expect(await placeOf(running, id)).toBe(place);
    expect(await idAt(running, to, moved)).toEqual([id]);
  });

  test.for(MOVES)('COPY from %s to %s, \\Deleted and EXPUNGE end the same: %s', async ([from, to, place]) => {
    await using running = await startImap();
    const { id, talk, uid } = await startIn(running, from);
    const { result } = await talk.command(`UID COPY ${uid} ${to}`);
    const [, copied = ''] = /^OK \[COPYUID \d+ \d+ (\d+)\]/.exec(result) ?? [];
    await talk.ok(`UID STORE ${uid} +FLAGS.SILENT (\\Deleted)`);
    await talk.ok('EXPUNGE');
    expect(await placeOf(running, id)).toBe(place);
    expect(await idAt(running, to, copied)).toEqual([id]);
    const { tenants } = running.server.mailbox.snapshot();
    expect(tenants.flatMap(({ messages }) => messages).filter(({ subject }) => subject === 'Moved')).toHaveLength(1);
  });

  test('a copy that stays is a second message, or is refused', async () => {
    await using running = await startImap();
    const { id, talk, uid } = await startIn(running, 'INBOX');
    await talk.ok(`UID COPY ${uid} Archive`);
    const { messages } = (await running.api('GET', '/messages')).json;
    const both = messages.filter(({ subject }: { subject: string }) => subject === 'Moved');
    expect(both).toHaveLength(2);
    expect(both.map((each: { id: string }) => each.id)).toContain(id);
    await using refusing = await startImap({ behaviours: { 'imap.copy': 'refused' } });
    const other = await refusing.session('INBOX');
    expect((await other.command('COPY 1 Archive')).result).toMatch(/^NO \[CANNOT\]/);
  });

  test.for(['MOVE 1 Sent', 'COPY 1 Sent', 'MOVE 1 Drafts', 'COPY 1 Drafts'])('%s is refused', async (command) => {
    await using running = await startImap();
    const talk = await running.session('INBOX');
    expect((await talk.command(command)).result).toMatch(/^NO \[CANNOT\]/);
    expect((await talk.command('MOVE 1 Nowhere')).result).toMatch(/^NO \[TRYCREATE\]/);
  });

  test('mail that was sent goes to Trash and back to Sent, but not to INBOX', async () => {
    await using running = await startImap();
    const talk = await running.session('Sent');
    const [, uid = ''] = /COPYUID \d+ \d+ (\d+)/.exec((await talk.ok('MOVE 1 Trash')).join()) ?? [];
    await talk.ok('SELECT Trash');
    expect((await talk.command(`UID MOVE ${uid} INBOX`)).result).toMatch(/^NO \[CANNOT\]/);
    await talk.ok(`UID MOVE ${uid} Sent`);
    expect(await talk.ok('STATUS Sent (MESSAGES)')).toEqual(['STATUS "Sent" (MESSAGES 1)']);
  });

  test('EXPUNGE removes for good, UID EXPUNGE only what it names, and nothing in a folder that is read only', async () => {
    await using running = await startImap();
    const talk = await running.session('INBOX');
    await talk.ok('STORE 1:2 +FLAGS (\\Deleted)');
    expect((await talk.ok('UID EXPUNGE 2')).at(0)).toBe('2 EXPUNGE');
    await talk.ok('EXAMINE INBOX');
    for (const command of ['EXPUNGE', 'STORE 1 FLAGS ()', 'MOVE 1 Trash']) {
      expect((await talk.command(command)).result).toMatch(/^NO \[READ-ONLY\]/);
    }
    await talk.ok('SELECT INBOX');
    await talk.ok('CLOSE');
    expect(await talk.ok('STATUS INBOX (MESSAGES)')).toEqual(['STATUS "INBOX" (MESSAGES 0)']);
    expect((await running.api('GET', '/messages?direction=inbound')).json.messages).toEqual([]);
  });

  test('APPEND keeps the bytes, and makes a draft, an inbound message, or an archived one', async () => {
    await using running = await startImap();
    const talk = await running.session();
    const mail = toMail('From: a@b.test\nTo: c@d.test\nBcc: e@f.test\nSubject: \xe4\n\n8 bit: \xff\nno end');
    for (const folder of ['Drafts', 'INBOX', 'Archive']) {
      const { result } = await talk.command(`APPEND ${folder} (\\Seen $Label1)`, mail);
      const [, uid = ''] = /APPENDUID \d+ (\d+)/.exec(result) ?? [];
      await talk.ok(`SELECT ${folder}`);
      const [line = ''] = await talk.ok(`UID FETCH ${uid} (BODY.PEEK[] FLAGS)`);
      const fetched = readFetch(line);
      expect(fetched['BODY[]']).toBe(Buffer.from(mail).toString('latin1'));
      expect(fetched.FLAGS).toEqual(expect.arrayContaining(['\\Seen', '$Label1']));
    }
    const draft = (await running.api('GET', '/drafts')).json.drafts.at(-1);
    expect(draft).toMatchObject({ to: ['c@d.test'], bcc: ['e@f.test'] });
    expect(running.server.mailbox.deliveries()).toEqual([]);
  });

  test('APPEND to INBOX can publish an event, or be refused', async () => {
    await using running = await startImap({ behaviours: { 'imap.append.inbox': 'received' } });
    const talk = await running.session();
    await talk.ok('APPEND INBOX', toMail('From: a@b.test\nSubject: Hi\n\nx\n'));
    expect(running.server.mailbox.messages({ subject: 'Hi' })).toHaveLength(1);
    await using refusing = await startImap({ behaviours: { 'imap.append.inbox': 'refused' } });
    const other = await refusing.session();
    expect((await other.command('APPEND INBOX', toMail('Subject: x\n\nx'))).result).toMatch(/^NO \[CANNOT\]/);
  });

  test('a draft that the API changes gets another UID, and one that it sends or deletes is gone', async () => {
    await using running = await startImap();
    const talk = await running.session();
    const { result } = await talk.command('APPEND Drafts (\\Draft)', toMail('To: c@d.test\nSubject: One\n\nx\n'));
    const [, uid = ''] = /APPENDUID \d+ (\d+)/.exec(result) ?? [];
    await talk.ok('SELECT Drafts');
    const { id } = (await running.api('GET', '/drafts')).json.drafts.at(-1);
    await running.api('PATCH', `/drafts/${id}`, { subject: 'Two' });
    expect((await talk.ok('NOOP')).join()).toMatch(/EXPUNGE.*EXISTS/);
    expect(await talk.ok(`UID FETCH ${uid} FLAGS`)).toEqual([]);
    const [line = ''] = await talk.ok(`UID FETCH ${Number(uid) + 1} ENVELOPE`);
    expect(readFetch(line).ENVELOPE?.[1]).toBe('Two');
    await running.api('DELETE', `/drafts/${id}`);
    expect((await talk.ok('NOOP')).join()).toContain('EXPUNGE');
  });
});
