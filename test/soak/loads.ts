import { type Clients, type Handle, INBOXES, UnexpectedError } from './clients.ts';
import type { Facts } from './facts.ts';

/** How many mails an inbox has; then the oldest are deleted. */
const MAX_MAILS = 40;

/** How many there are at most of each other kind. */
const MAX_OTHERS = 6;

/** What the loads share. */
export interface Scene {
  readonly facts: Facts;
  clients: Clients;
  /** Keys of workspaces by their names. */
  readonly keys: Map<string, string>;
  /** Ids of sandboxes, faults, drafts and others by their names. */
  readonly ids: Map<string, string>;
  /** Expects that the WebSockets show a mail with this subject. */
  expectEvent(subject: string): void;
  /** Expects that the webhooks get a mail with this subject. */
  expectDelivery(subject: string): void;
  readonly receiverUrl: string;
  readonly secrets: Map<string, string>;
}

/** One kind of input. It does nothing if there is nothing that it could act on. */
export interface Load {
  readonly protocol: 'HTTP' | 'SMTP' | 'IMAP' | 'webhooks' | 'control';
  /** How often it comes, compared with the others. */
  readonly weight: number;
  run(scene: Scene): Promise<void>;
}

let counter = 0;

/** Returns a text that nothing else has or contains: the subject of a mail, or a name. */
function createName(): string {
  counter += 1;
  return `soak-${process.pid}-${counter}z`;
}

function pick<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}

const pickInbox = (): Handle => pick(INBOXES) ?? 'helpdesk';

/** Returns two different inboxes. */
function pickPair(): [from: Handle, to: Handle] {
  const from = pickInbox();
  return [from, pick(INBOXES.filter((handle) => handle !== from)) ?? 'billing'];
}

/** Returns the name of the fact about a mail. */
export function mailFact(inbox: string, direction: string, subject: string): string {
  return `mail ${inbox} ${direction} ${subject}`;
}

/** Returns a text that is mostly short and sometimes long. */
function createText(): string {
  const length = Math.random() < 0.02 ? 100_000 : 200 + Math.floor(Math.random() * 3_000);
  return 'A line of a mail that somebody has written.\n'.repeat(Math.ceil(length / 44));
}

/** Returns an attachment for some mails. */
function createAttachments(): { filename: string; content: string; encoding: 'base64' }[] {
  if (Math.random() > 0.1) return [];
  const bytes = Math.random() < 0.05 ? 1_000_000 : 20_000;
  return [{ filename: 'file.bin', content: Buffer.alloc(bytes, 'soak').toString('base64'), encoding: 'base64' }];
}

/** Runs an action with a mail that an inbox got, on which nothing else acts. */
async function withMail(
  { facts }: Scene,
  inbox: Handle,
  action: (fact: string, subject: string) => Promise<void>,
): Promise<void> {
  const fact = pick(facts.free(mailFact(inbox, 'inbound', '')));
  if (fact !== undefined) await action(fact, fact.split(' ').at(-1) ?? '');
}

/** Returns the messages of an inbox, with the newest first. */
async function listMessages(
  { clients }: Scene,
  inbox: Handle,
): Promise<{ id: string; subject: string; direction: string }[]> {
  return (await clients.call('GET', `${clients.inboxPath(inbox)}/messages?limit=200`)).messages;
}

/** Finds the UIDs of a mail in a folder, and runs an action with them. */
async function withUids(
  { clients }: Scene,
  inbox: Handle,
  subject: string,
  action: (uids: number[]) => Promise<unknown>,
): Promise<void> {
  const client = clients.imap.get(inbox);
  if (!client) throw new Error(`There is no session of ${inbox}.`);
  await clients.guard(async () => {
    const lock = await client.getMailboxLock('INBOX');
    try {
      const uids = await client.search({ subject }, { uid: true });
      if (uids && uids.length > 0) await action(uids);
    } finally {
      lock.release();
    }
  });
}

/** Every kind of input. */
export const LOADS: Readonly<Record<string, Load>> = {
  'send a mail by the API': {
    protocol: 'HTTP',
    weight: 6,
    async run(scene) {
      const { facts, clients } = scene;
      const [from, to] = pickPair();
      const subject = createName();
      const mail = { to: clients.addressOf(to), subject, plainBody: createText(), verified: true };
      const sent = { [mailFact(from, 'outbound', subject)]: 'plain', [mailFact(to, 'inbound', subject)]: 'plain' };
      await facts.change(sent, () => clients.call('POST', `${clients.inboxPath(from)}/send`, mail));
      scene.expectEvent(subject);
      scene.expectDelivery(subject);
    },
  },
  'read a list and a mail by the API': {
    protocol: 'HTTP',
    weight: 12,
    async run(scene) {
      const inbox = pickInbox();
      const message = pick(await listMessages(scene, inbox));
      const { clients } = scene;
      const path = `${clients.inboxPath(inbox)}/messages/${message?.id}`;
      if (message) await clients.call('GET', `${path}/raw`).catch(ignoreGone);
    },
  },
  'star a mail by the API': {
    protocol: 'HTTP',
    weight: 4,
    async run(scene) {
      const { facts, clients } = scene;
      const inbox = pickInbox();
      const messages = await listMessages(scene, inbox);
      const free = new Set(facts.free(`mail ${inbox} `));
      const message = pick(messages.filter((each) => free.has(mailFact(inbox, each.direction, each.subject))));
      if (!message) return;
      const fact = mailFact(inbox, message.direction, message.subject);
      const isStarred = facts.valueOf(fact) === 'plain';
      const path = `${clients.inboxPath(inbox)}/messages/${message.id}`;
      await facts.change({ [fact]: isStarred ? 'starred' : 'plain' }, () => clients.call('PATCH', path, { isStarred }));
    },
  },
  'delete the oldest mails by the API, and then for good': {
    protocol: 'HTTP',
    weight: 20,
    async run(scene) {
      const { facts, clients, ids } = scene;
      const inbox = pickInbox();
      const remove = (fact: string, value: 'trash' | null) =>
        facts.change({ [fact]: value }, () =>
          clients.call('DELETE', `${clients.inboxPath(inbox)}/messages/${ids.get(fact)}`),
        );
      // If the emulator was killed between both steps, the mail is still in the trash.
      const free = facts.free(`mail ${inbox} `);
      const trashed = free.find((fact) => facts.valueOf(fact) === 'trash' && ids.has(fact));
      if (trashed !== undefined) return remove(trashed, null);
      // As many as are too many, so that the number of mails does not grow, however fast the others add them.
      const messages = await listMessages(scene, inbox);
      for (const { id, direction, subject } of messages.slice(MAX_MAILS).reverse()) {
        const fact = mailFact(inbox, direction, subject);
        if (!facts.isFree(fact)) continue;
        ids.set(fact, id);
        await remove(fact, 'trash');
        await remove(fact, null);
      }
    },
  },
  'create, change, send or delete a draft': {
    protocol: 'HTTP',
    weight: 6,
    async run(scene) {
      const { facts, clients, ids } = scene;
      const drafts = facts.free('draft ');
      const drafted = pick(drafts.filter((fact) => ids.has(fact)));
      if (drafted === undefined || drafts.length < MAX_OTHERS) {
        const [from, to] = pickPair();
        const subject = `${createName()}-to-${to}`;
        const fact = `draft ${from} ${subject}`;
        const draft = { to: clients.addressOf(to), subject, plainBody: 'One' };
        const create = () => clients.call('POST', `${clients.inboxPath(from)}/drafts`, draft);
        ids.set(fact, (await facts.change({ [fact]: 'One' }, create)).id);
        return;
      }
      const [, inbox = '', subject = ''] = drafted.split(' ');
      const path = `${clients.inboxPath(inbox as Handle)}/drafts/${ids.get(drafted)}`;
      const plainBody = pick(['Two', 'Three', 'Four', null, 'sent']);
      if (plainBody === null) await facts.change({ [drafted]: null }, () => clients.call('DELETE', path));
      else if (plainBody === 'sent') {
        const to = INBOXES.find((handle) => subject.endsWith(handle)) ?? 'helpdesk';
        const sent = { [mailFact(inbox, 'outbound', subject)]: 'plain', [mailFact(to, 'inbound', subject)]: 'plain' };
        await facts.change({ [drafted]: null, ...sent }, () => clients.call('POST', `${path}/send`));
        scene.expectEvent(subject);
        scene.expectDelivery(subject);
      } else await facts.change({ [drafted]: String(plainBody) }, () => clients.call('PATCH', path, { plainBody }));
    },
  },
  'create, rename or delete an inbox': {
    protocol: 'HTTP',
    weight: 1,
    async run({ facts, clients, ids }) {
      const inboxes = facts.free('inbox ');
      const fact = pick(inboxes.filter((each) => ids.has(each)));
      if (fact === undefined || inboxes.length < MAX_OTHERS) {
        const username = createName();
        const inbox = { username, domain: 'acme.test', displayName: 'One' };
        const created = await facts.change({ [`inbox ${username}`]: 'One' }, () =>
          clients.call('POST', '/v1/inboxes', inbox),
        );
        ids.set(`inbox ${username}`, created.id);
        return;
      }
      const path = `/v1/inboxes/${ids.get(fact)}`;
      const displayName = pick(['Two', 'Three', null]);
      if (displayName) await facts.change({ [fact]: displayName }, () => clients.call('PATCH', path, { displayName }));
      else await facts.change({ [fact]: null }, () => clients.call('DELETE', path));
    },
  },
  'create, use or delete a key': {
    protocol: 'HTTP',
    weight: 4,
    async run({ facts, clients, ids, keys }) {
      const known = facts.free('key ').filter((each) => keys.has(each));
      const fact = pick(known);
      if (fact === undefined || known.length < MAX_OTHERS) {
        const name = createName();
        const create = () => clients.call('POST', `${clients.supportPath}/keys`, { name });
        const created = await facts.change({ [`key ${name}`]: 'there' }, create);
        ids.set(`key ${name}`, created.id);
        keys.set(`key ${name}`, created.key);
        return;
      }
      const key = keys.get(fact) ?? '';
      // The key is not deleted meanwhile, because the fact is changed to what it is.
      const use = () => clients.call('GET', '/v1/me', undefined, key);
      if (Math.random() < 0.7) await facts.change({ [fact]: 'there' }, use);
      else {
        await facts.change({ [fact]: null }, () =>
          clients.call('DELETE', `${clients.supportPath}/keys/${ids.get(fact)}`),
        );
      }
    },
  },
  'create, switch off or delete a webhook': {
    protocol: 'webhooks',
    weight: 2,
    async run({ facts, clients, ids, receiverUrl, secrets }) {
      const webhooks = facts.free('webhook ');
      const fact = pick(webhooks.filter((each) => ids.has(each)));
      if (fact === undefined || webhooks.length < 3) {
        const name = createName();
        const webhook = { url: `${receiverUrl}/${name}`, events: ['message.sent'] };
        const created = await facts.change({ [`webhook ${name}`]: 'on' }, () =>
          clients.call('POST', '/v1/webhooks', webhook),
        );
        ids.set(`webhook ${name}`, created.id);
        secrets.set(`/${name}`, created.secret);
        return;
      }
      const path = `/v1/webhooks/${ids.get(fact)}`;
      const state = pick(['on', 'off', null]);
      if (state === null) await facts.change({ [fact]: null }, () => clients.call('DELETE', path));
      else {
        const change = { isActive: state === 'on' };
        await facts.change({ [fact]: String(state) }, () => clients.call('PATCH', path, change));
      }
    },
  },
  'send a mail over SMTP from outside': {
    protocol: 'SMTP',
    weight: 6,
    async run(scene) {
      const { facts, clients } = scene;
      const inbox = pickInbox();
      const subject = createName();
      const mail = {
        from: 'Dana <dana@customer.test>',
        to: clients.addressOf(inbox),
        subject,
        text: createText(),
        attachments: createAttachments(),
      };
      await facts.change({ [mailFact(inbox, 'inbound', subject)]: 'plain' }, () => clients.submit(mail));
      scene.expectEvent(subject);
      scene.expectDelivery(subject);
    },
  },
  'send a mail over SMTP as an inbox': {
    protocol: 'SMTP',
    weight: 3,
    async run(scene) {
      const { facts, clients } = scene;
      const [from, to] = pickPair();
      const subject = createName();
      const mail = { from: clients.addressOf(from), to: clients.addressOf(to), subject, text: createText() };
      const sent = { [mailFact(from, 'outbound', subject)]: 'plain', [mailFact(to, 'inbound', subject)]: 'plain' };
      await facts.change(sent, () => clients.submit(mail, from));
      scene.expectEvent(subject);
      scene.expectDelivery(subject);
    },
  },
  'append a mail over IMAP': {
    protocol: 'IMAP',
    weight: 3,
    async run({ facts, clients }) {
      const inbox = pickInbox();
      const subject = createName();
      const mail = `From: Eve <eve@customer.test>\r\nSubject: ${subject}\r\n\r\n${createText().replaceAll('\n', '\r\n')}`;
      await facts.change({ [mailFact(inbox, 'inbound', subject)]: 'plain' }, () =>
        clients.guard(async () => clients.imap.get(inbox)?.append('INBOX', mail)),
      );
    },
  },
  'flag a mail over IMAP': {
    protocol: 'IMAP',
    weight: 4,
    async run(scene) {
      const { facts, clients } = scene;
      const inbox = pickInbox();
      await withMail(scene, inbox, async (fact, subject) => {
        await withUids(scene, inbox, subject, async (uids) => {
          if (!facts.isFree(fact)) return;
          const isStarred = facts.valueOf(fact) === 'plain';
          const method = isStarred ? 'messageFlagsAdd' : 'messageFlagsRemove';
          await facts.change({ [fact]: isStarred ? 'starred' : 'plain' }, () =>
            clients.guard(async () => {
              const isDone = await clients.imap.get(inbox)?.[method](uids, ['\\Flagged'], { uid: true });
              if (!isDone) throw new UnexpectedError(`STORE did nothing to ${fact}`);
            }),
          );
        });
      });
    },
  },
  'read a mail over IMAP': {
    protocol: 'IMAP',
    weight: 6,
    async run(scene) {
      const inbox = pickInbox();
      await withMail(scene, inbox, (_, subject) =>
        withUids(scene, inbox, subject, async ([uid]) => {
          const found = await scene.clients.imap
            .get(inbox)
            ?.fetchOne(String(uid), { source: true, bodyStructure: true }, { uid: true });
          if (found && !String(found.source).includes(subject))
            throw new UnexpectedError(`The mail ${subject} is another one`);
        }),
      );
    },
  },
  'expunge a mail over IMAP': {
    protocol: 'IMAP',
    weight: 3,
    async run(scene) {
      const { facts, clients } = scene;
      const inbox = pickInbox();
      if (facts.free(mailFact(inbox, 'inbound', '')).length < MAX_MAILS / 2) return;
      await withMail(scene, inbox, (fact, subject) =>
        withUids(scene, inbox, subject, async (uids) => {
          if (!facts.isFree(fact)) return;
          await facts.change({ [fact]: null }, () =>
            clients.guard(async () => {
              const isDone = await clients.imap.get(inbox)?.messageDelete(uids, { uid: true });
              if (!isDone) throw new UnexpectedError(`EXPUNGE did nothing to ${fact}`);
            }),
          );
        }),
      );
    },
  },
  'deliver a mail by a control call, and read it': {
    protocol: 'control',
    weight: 4,
    async run(scene) {
      const { facts, clients } = scene;
      const inbox = pickInbox();
      const subject = createName();
      const mail = { from: 'kim@visitor.test', to: clients.addressOf(inbox), subject, plainBody: createText() };
      const { messages } = await facts.change({ [mailFact(inbox, 'inbound', subject)]: 'plain' }, () =>
        clients.control.receiveMessage(mail),
      );
      scene.expectEvent(subject);
      scene.expectDelivery(subject);
      await clients.control.getMail({ id: String(messages[0]?.id) }).catch(ignoreGone);
    },
  },
  'read the journal, the deliveries and the state': {
    protocol: 'control',
    weight: 3,
    async run({ clients: { control } }) {
      const journal = await control.listRequests({ limit: 50 });
      const request = 'requests' in journal ? pick(journal.requests) : undefined;
      if (request && 'id' in request) await control.getRequest({ id: String(request.id) }).catch(ignoreGone);
      await control.listDeliveries({ state: 'pending' });
      await control.searchMail({ search: 'line' });
      if (Math.random() < 0.1) await control.exportState();
    },
  },
  'move the clock': {
    protocol: 'control',
    weight: 1,
    async run({ facts, clients }) {
      if (facts.free('clock').length === 0 && facts.valueOf('clock') !== null) return;
      const minutes = 1 + Math.floor(Math.random() * 10);
      const total = Number(facts.valueOf('clock') ?? 0) + minutes * 60_000;
      await facts.change({ clock: total }, () => clients.control.changeClock({ advance: `${minutes}m` }));
    },
  },
  'create, use or close a sandbox': {
    protocol: 'control',
    weight: 3,
    async run({ facts, clients: { control }, ids }) {
      const sandboxes = facts.free('sandbox ');
      const fact = pick(sandboxes.filter((each) => ids.has(each)));
      const name = createName();
      if (fact === undefined || sandboxes.length < 3) {
        const created = await facts.change({ [`sandbox ${name}`]: 'there' }, () => control.createSandbox({ name }));
        ids.set(`sandbox ${name}`, created.id);
        ids.set(`domain ${name}`, created.domain);
        return;
      }
      const sandbox = ids.get(fact);
      const [, own = ''] = fact.split(' ');
      const inside = facts.free(`in-sandbox ${own} `);
      const action = Math.random();
      if (action < 0.15) {
        const gone = Object.fromEntries([fact, ...inside].map((each) => [each, null]));
        await facts.change(gone, () => control.closeSandbox({ id: String(sandbox) }));
      } else if (action < 0.4) {
        await facts.change({ [fact]: 'there' }, () => control.changeClock({ advance: '1h' }, { sandbox }));
      } else if (action < 0.6) {
        // A fault has no name; the number of requests that it leaves alone stands for one.
        const after = 1_000 + counter;
        await facts.change({ [fact]: 'there', [`in-sandbox ${own} fault ${after}`]: 'there' }, () =>
          control.addFault({ on: 'request', operation: 'getMe', after, latency: { ms: 5 } }, { sandbox }),
        );
      } else {
        const mail = { from: 'kim@visitor.test', to: `helpdesk@${ids.get(`domain ${own}`)}`, subject: name };
        await facts.change({ [fact]: 'there', [`in-sandbox ${own} mail ${name}`]: 'there' }, () =>
          control.receiveMessage(mail, { sandbox }),
        );
      }
    },
  },
};

/** Another load may have deleted what this one wanted to read. */
function ignoreGone(error: unknown): void {
  if (!/: 404 |^There is no /.test((error as Error).message)) throw error;
}
