import { describe, expect, test } from 'vitest';
import { startImap, toMail } from '../../../support/imap-server.ts';

describe('STATUS', () => {
  test('counts the messages that are not read, in another folder and in the open one', async () => {
    await using running = await startImap();
    const talk = await running.session();
    const unseen = async (folder: string) => (await talk.ok(`STATUS ${folder} (MESSAGES UNSEEN)`))[0];
    expect(await unseen('Archive')).toBe('STATUS "Archive" (MESSAGES 0 UNSEEN 0)');
    for (const flags of ['(\\Seen)', '()', '(\\Flagged)', '(\\Seen \\Flagged)']) {
      await talk.ok(`APPEND Archive ${flags}`, toMail('Subject: a\n\nb\n'));
    }
    expect(await unseen('Archive')).toBe('STATUS "Archive" (MESSAGES 4 UNSEEN 2)');
    await talk.ok('SELECT Archive');
    await talk.ok('STORE 2 +FLAGS (\\Seen)');
    expect(await unseen('Archive')).toBe('STATUS "Archive" (MESSAGES 4 UNSEEN 1)');
    await talk.ok('STORE 1:2 -FLAGS (\\Seen)');
    await talk.ok('SELECT INBOX');
    expect(await unseen('Archive')).toBe('STATUS "Archive" (MESSAGES 4 UNSEEN 3)');
  });

  test('counts a message that the API marks as read', async () => {
    await using running = await startImap();
    const talk = await running.session();
    const unseen = async () => Number(/UNSEEN (\d+)/.exec((await talk.ok('STATUS INBOX (UNSEEN)'))[0] ?? '')?.[1]);
    const before = await unseen();
    await running.receive('New');
    expect(await unseen()).toBe(before + 1);
    const [{ id }] = (await running.api('GET', '/messages?limit=1')).json.messages;
    expect((await running.api('PATCH', `/messages/${id}`, { isRead: true })).status).toBe(200);
    expect(await unseen()).toBe(before);
  });
});
