import fc from 'fast-check';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { type ImapTestServer, startImap } from '../../support/imap-server.ts';
import { type ImapTalk, readFetch } from '../../support/imap-talk.ts';

const action = fc.oneof(
  fc.record({
    by: fc.constant('api' as const),
    what: fc.constantFrom('read', 'star', 'archive', 'delete', 'draft'),
    at: fc.nat(9),
  }),
  fc.record({
    by: fc.constantFrom('first' as const, 'second' as const),
    what: fc.constantFrom(
      'STORE * +FLAGS (\\Seen)',
      'STORE 1 -FLAGS (\\Flagged)',
      'MOVE 1 Archive',
      'MOVE * Trash',
      'COPY 1 Archive',
      'STORE 1 +FLAGS (\\Deleted)',
      'EXPUNGE',
      'NOOP',
      'FETCH * BODY[]',
      'SELECT Archive',
      'SELECT Trash',
      'SELECT INBOX',
    ),
  }),
  fc.record({ by: fc.constant('smtp' as const), what: fc.constantFrom('one', 'two') }),
);

/** Changes a message, or adds a draft, by the API. Returns the call as the feed shows it. */
async function callApi(running: ImapTestServer, { what, at }: { readonly what: string; readonly at: number }) {
  const { messages } = (await running.api('GET', '/messages')).json;
  const path = `/messages/${messages[at % Math.max(messages.length, 1)]?.id}`;
  const changes = { read: { isRead: true }, star: { isStarred: true }, archive: { isArchived: true } }[what];
  const [method, target, body] = changes
    ? (['PATCH', path, changes] as const)
    : what === 'draft'
      ? (['POST', '/drafts', { subject: 'Draft' }] as const)
      : (['DELETE', path] as const);
  return `${method} ${(await running.api(method, target, body)).status}`;
}

/** Returns what the feed shows: the mail that arrived, the calls of the API that change something, and IMAP commands. */
async function readStory({ server }: ImapTestServer) {
  const story = { mails: [] as string[], calls: [] as string[], commands: [] as string[] };
  for await (const event of server.mailbox.feed({ follow: false })) {
    if (event.kind === 'mail-received') story.mails.push(event.data.mail.subject);
    if (event.kind !== 'request' && event.kind !== 'mail-command') continue;
    const { method, command, path, status } = event.data;
    if (method !== undefined && method !== 'GET') story.calls.push(`${method} ${status}`);
    if (command && /^(?:STORE|MOVE|COPY|FETCH)$/.test(command)) story.commands.push(`${command} ${path}`);
  }
  return story;
}

/** Returns how the feed shows a command in a folder, also if it is refused. */
function shownAs(command: string, folder: string): string[] {
  const [name = ''] = command.split(' ');
  return /^(?:STORE|MOVE|COPY|FETCH)$/.test(name) ? [`${name} ${folder}`] : [];
}

/** Returns what a session sees of its folder: the ids with the flags that the API has, too. */
async function viewOf(talk: ImapTalk): Promise<string[]> {
  await talk.ok('NOOP');
  const { lines } = await talk.command('UID FETCH 1:* (EMAILID FLAGS)');
  return lines
    .filter((line) => line.includes(' FETCH '))
    .map((line) => {
      const { EMAILID: id, FLAGS: flags } = readFetch(line);
      const has = (flag: string) => Array.isArray(flags) && flags.includes(flag);
      return `${id} ${has('\\Seen')} ${has('\\Flagged')}`;
    });
}

test('after any mix of calls of the API, IMAP commands from two sessions, and mail over SMTP, all tell one story', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 25 }), async (actions) => {
      await using running = await startImap();
      const { mailbox } = running.server;
      // Each new connection waits 100 ms for its greeting, so all mail of a run goes over one.
      const smtp = createTransport({
        host: '127.0.0.1',
        port: running.smtpPort,
        ignoreTLS: true,
        pool: true,
        maxConnections: 1,
      });
      const talks = { first: await running.session('INBOX'), second: await running.session('INBOX') };
      const folders = { first: 'INBOX', second: 'INBOX' };
      const story: Awaited<ReturnType<typeof readStory>> = { mails: [], calls: [], commands: [] };
      for (const each of actions) {
        if (each.by === 'smtp') {
          await smtp.sendMail({ from: 'a@b.test', to: running.login.user, subject: each.what, text: 'x' });
          story.mails.push(each.what);
        } else if (each.by === 'api') story.calls.push(await callApi(running, each));
        else {
          const { result } = await talks[each.by].command(each.what);
          expect(result).toMatch(/^(?:OK|NO|BAD) /);
          story.commands.push(...shownAs(each.what, folders[each.by]));
          folders[each.by] = /^SELECT (.*)/.exec(each.what)?.[1] ?? folders[each.by];
        }
      }
      smtp.close();
      expect(await readStory(running)).toEqual(story);
      const tenant = mailbox.snapshot().tenants.find(({ id }) => id === mailbox.ids.acme.tenant);
      const inboxId = mailbox.ids.acme.inboxes.helpdesk;
      const rows = (tenant?.messages ?? []).filter((row) => row.inboxId === inboxId);
      const isIn = {
        INBOX: (row: (typeof rows)[number]) => row.direction === 'inbound' && !row.isArchived && row.deletedAt === null,
        Archive: (row: (typeof rows)[number]) => row.isArchived && row.deletedAt === null,
        Trash: (row: (typeof rows)[number]) => row.deletedAt !== null,
      };
      for (const who of ['first', 'second'] as const) {
        const wanted = rows.filter(isIn[folders[who] as keyof typeof isIn]);
        expect((await viewOf(talks[who])).sort()).toEqual(
          wanted.map(({ id, isRead, isStarred }) => `${id} ${isRead} ${isStarred}`).sort(),
        );
      }
      const counts = (await running.api('GET', '/messages?limit=1')).json.pagination.total;
      expect(counts).toBe(rows.filter((row) => row.deletedAt === null).length);
    }),
    { numRuns: 15 },
  );
});
