import { setTimeout as sleep } from 'node:timers/promises';
import { OPERATION_ROWS, OPERATIONS, type OperationId, type OperationRow } from '../contract/operations.ts';
import { FOLDERS } from '../contract/query.ts';
import { COUNTING, observeCounts } from './observe-counts.ts';
import { observeDeliveries, observeEvents } from './observe-events.ts';
import type { Asked, PathValues, Recording, RoleKey } from './recording.ts';
import type { Reply, VerifySession } from './verify-session.ts';

/** How long after a rotation the old key is tried again, in milliseconds. */
const OLD_KEY_PAUSE_MS = 5000;

/** The roles of the keys of the two tenants. */
export const TENANT = 'the tenant key';
export const OTHER_TENANT = 'the key of the other tenant';

/** The number of recipients of this run is small, so one page has all of its items. */
const ALL = 'limit=200';

/** The values with which the bodies of a sequence are filled. */
interface Words {
  /** A new name, which is the same on each target. */
  readonly name: string;
  readonly domain: string;
  /** The address of an inbox of this run. */
  readonly email: string;
  readonly workspaceId?: string | undefined;
}

/** The bodies with which operations succeed. An operation that is not in this table needs no body. */
const BODIES: { readonly [Id in OperationId]?: (words: Words) => object } = {
  createWebhook: ({ name, workspaceId }) => ({
    url: `https://${name}.verify.invalid/`,
    events: ['message.received'],
    workspaceId,
  }),
  updateWebhook: ({ name }) => ({ url: `https://${name}.verify.invalid/changed`, isActive: false }),
  createWorkspaceKey: ({ name }) => ({ name }),
  createTenant: ({ name }) => ({ name }),
  createWorkspace: ({ name }) => ({ name, slug: name }),
  createInbox: ({ name, workspaceId }) => ({
    username: name,
    displayName: `verify ${name}`,
    workspaceId,
  }),
  updateInbox: ({ name }) => ({ displayName: `verify ${name}`, metadata: { verify: name } }),
  addInboxAddress: ({ name, domain }) => ({ email: `${name}@${domain}`, primary: false }),
  updateMessage: () => ({ isRead: false, isStarred: true, isArchived: true }),
  sendMessage: ({ name, email }) => ({ to: email, subject: name, plainBody: `verify ${name}`, verified: true }),
  replyToMessage: ({ name }) => ({ plainBody: `verify ${name}` }),
  replyAllToMessage: ({ name }) => ({ plainBody: `verify ${name}` }),
  forwardMessage: ({ email }) => ({ to: email }),
  createDraft: ({ name, email }) => ({ to: email, subject: name, plainBody: `verify ${name}` }),
  updateDraft: ({ name }) => ({ subject: `verify ${name}`, plainBody: `verify changed ${name}` }),
  createList: ({ name }) => ({ name, description: `verify ${name}` }),
  createListEntry: ({ name }) => ({
    email: `${name}@verify.example`,
    displayName: `verify ${name}`,
    metadata: { verify: name },
  }),
  createDomain: ({ name, workspaceId }) => ({
    domain: `${name}.example`,
    workspaceId,
  }),
  verifyEmail: ({ email }) => ({ email }),
};

/** The fields that are not compared: a real domain is verified by its DNS records, which this run cannot set. */
const NOT_FROM_OUTSIDE = ['status', 'verifiedAt', 'inboundEnabled', 'outboundEnabled'];

/** An inbox of this run, in its workspace and its tenant, with the keys that reach it. */
interface Place {
  readonly name: string;
  readonly tenant: RoleKey;
  readonly workspace: RoleKey;
  readonly inbox: RoleKey;
  readonly email: string;
  readonly workspaceId: string | undefined;
  /** The values of path parameters, by the first part of the path: `webhooks`, `workspaces`, `inboxes`, `domains`. */
  readonly values: Readonly<Record<string, PathValues>>;
}

const NEEDS_OUTSIDE = 'the check needs a mail from outside, which verify cannot send';

const NO_KEY: RoleKey = { role: 'no key', text: '' };

/** The key of an inbox or a workspace that could not be created: nothing is sent with it. */
const isUsable = ({ text }: RoleKey) => text !== '';

const collectionOf = (path: string) => path.split('/')[2] ?? '';

const valuesFor = ({ path }: OperationRow, place: Pick<Place, 'values'>) => place.values[collectionOf(path)] ?? {};

/** A read operation does not change anything but `isRead`. */
const isRead = ({ method }: OperationRow) => method === 'GET';

/**
 * Runs every operation of the table on one target: what it returns, what it changes, what each key of the run sees, and
 * who is refused. The same requests go to each target; `recording` keeps the replies.
 */
export class OperationSequence {
  readonly #recording: Recording;
  readonly #s: VerifySession;
  readonly #report: (step: string) => void;
  /** How many names were used, by the part of the sequence and the operation: a part that ends early changes no name. */
  readonly #names = new Map<string, number>();

  #arrived = 0;

  constructor(recording: Recording, report: (step: string) => void = () => {}) {
    this.#recording = recording;
    this.#s = recording.session;
    this.#report = report;
  }

  async run(): Promise<void> {
    this.#s.begin('operations');
    const places: Place[] = [];
    const { key, secondKey } = this.#s.target;
    for (const [role, text] of [
      [TENANT, key],
      [OTHER_TENANT, secondKey],
    ] as const) {
      if (text === undefined) continue;
      this.#begin(`setup${places.length}`, `creating workspaces and inboxes with ${role}`);
      places.push(...(await this.#createPlaces({ role, text })));
    }
    const [place, sibling, ...others] = places;
    if (!place || !sibling) return;
    this.#begin('read', 'what each key sees');
    await this.#read(places);
    this.#begin('change', 'what each operation changes');
    await this.#change(sibling, place, others.find(({ tenant }) => tenant.text !== place.tenant.text)?.tenant);
    this.#begin('mail', 'mail between inboxes');
    await this.#mail();
    await this.events();
    this.#begin('counts', 'what each tenant counts');
    await this.#counts();
    this.#begin('rotate', 'rotated keys');
    const rotated = await this.#rotate(sibling);
    this.#begin('refuse', 'who is refused');
    await this.#refuse(place, sibling, others);
    await this.#tiers(place);
    this.#begin('old', 'a rotated key after 5 s');
    await this.#tryOldKeyAgain(rotated);
  }

  #begin(name: string, description: string): void {
    this.#recording.part = name;
    this.#report(description);
  }

  #newName(id: OperationId): string {
    const name = `${this.#recording.part}-${id.toLowerCase()}`;
    const count = (this.#names.get(name) ?? 0) + 1;
    this.#names.set(name, count);
    return `verify-${this.#s.runId}-${name}-${count}`;
  }

  #bodyOf(id: OperationId, words: Partial<Words> = {}): object | undefined {
    const { domain } = this.#s;
    return BODIES[id]?.({ name: this.#newName(id), domain, email: `nobody@${domain}`, ...words });
  }

  /** Creates something, and returns the body of the reply; an empty object if it could not be created. */
  async #create(id: OperationId, key: RoleKey, values: PathValues, words?: Partial<Words>, of?: Asked['of']) {
    const asked = { aspect: 'reply', key, values, body: this.#bodyOf(id, words), of } as const;
    return (await this.#recording.ask(id, asked)) ?? {};
  }

  /** Creates two workspaces with two inboxes each, and something of each kind in them. */
  async #createPlaces(tenant: RoleKey): Promise<Place[]> {
    const places: Place[] = [];
    const ofTenant = tenant.role === TENANT ? '' : ' of the other tenant';
    const name = (value: unknown, role: string) => this.#recording.name(value as string | undefined, role);
    await this.#create('createWebhook', tenant, {}).then(({ id }) => name(id, `the tenant-wide webhook${ofTenant}`));
    for (const workspaceNumber of [1, 2]) {
      const ofWorkspace = ` of workspace ${workspaceNumber}${ofTenant}`;
      const { id: workspaceId } = await this.#create('createWorkspace', tenant, {});
      name(workspaceId, `workspace ${workspaceNumber}${ofTenant}`);
      const keyReply = await this.#create('createWorkspaceKey', tenant, { id: workspaceId });
      name(keyReply.id, `the id of the key${ofWorkspace}`);
      const workspace = { role: `the key${ofWorkspace}`, text: name(keyReply.key, `the key${ofWorkspace}`) ?? '' };
      const webhook = await this.#create('createWebhook', tenant, {}, { workspaceId });
      name(webhook.id, `the webhook${ofWorkspace}`);
      const domainReply = await this.#create('createDomain', tenant, {}, { workspaceId });
      const domain = domainReply.domain?.domain ?? domainReply.domain;
      name(domain, `the domain${ofWorkspace}`);
      const inboxes: Place[] = [];
      for (const inboxNumber of [1, 2]) {
        const ofInbox = ` of inbox ${inboxNumber}${ofWorkspace}`;
        const inbox = await this.#create('createInbox', tenant, {}, { workspaceId });
        name(inbox.id, ofInbox.replace(' of ', ''));
        const key = { role: `the key${ofInbox}`, text: name(inbox.apiKey, `the key${ofInbox}`) ?? '' };
        const inInbox = { id: inbox.id };
        const created = async (id: OperationId, what: string, values: PathValues = inInbox) => {
          const body = await this.#create(id, tenant, values, { email: inbox.email });
          return name(body.id ?? body.address, `the ${what}${ofInbox}`);
        };
        const address = await created('addInboxAddress', 'second address');
        const draftId = await created('createDraft', 'draft');
        await created('createDraft', 'second draft');
        const listId = await created('createList', 'list');
        await created('createList', 'second list');
        const entryId = await created('createListEntry', 'list entry', { ...inInbox, listId });
        await created('createListEntry', 'second list entry', { ...inInbox, listId });
        inboxes.push({
          name: ofInbox.replace(' of ', ''),
          tenant,
          workspace,
          inbox: key,
          email: inbox.email,
          workspaceId,
          values: {
            webhooks: { id: webhook.id },
            workspaces: { id: workspaceId, key_id: keyReply.id },
            domains: { domain },
            inboxes: { id: inbox.id, address, draftId, listId, entryId },
          },
        });
      }
      const [from, to] = inboxes as [Place, Place];
      // Mails in both directions, one of which is starred, so that no folder of the first inbox is empty.
      const mails = [
        await this.#mailBetween(to, from),
        await this.#mailBetween(from, to),
        await this.#mailBetween(to, from),
      ];
      const [ofFirst = {}, ofSecond = {}, marked] = mails;
      const attached = places.length === 0 ? await this.#receiveAttachment(from) : undefined;
      if (marked?.messageId !== undefined) {
        const values = { ...from.values.inboxes, ...marked };
        await this.#recording.ask('updateMessage', {
          aspect: 'reply',
          key: tenant,
          values,
          body: { isStarred: true, isRead: true },
        });
      }
      places.push(withMail(from, attached ?? ofFirst), withMail(to, ofSecond));
    }
    return places;
  }

  /** Sends a mail, and returns the ids of the received message; no ids if it has not arrived. */
  async #mailBetween(from: Place, to: Place): Promise<PathValues> {
    const { email } = to;
    const id = to.values.inboxes?.id;
    const before = await this.#inboundOf(to);
    const sent = await this.#create('sendMessage', from.tenant, { id: from.values.inboxes?.id }, { email });
    if (sent.id === undefined || id === undefined) return {};
    const arrived = await this.#waitForMail(to, before.length + 1);
    const message = this.#nameArrived(arrived, before, to);
    return { messageId: message?.id, threadId: message?.threadId };
  }

  /**
   * The messages that an inbox has received, by one of two operations, so that a wrong reply of one does not look like a
   * lost mail. The requests are not compared, because a target may need more of them than another.
   */
  async #inboundOf(place: Place): Promise<{ id: string; threadId: string }[]> {
    const { id } = place.values.inboxes ?? {};
    if (id === undefined) return [];
    const found = new Map<string, { id: string; threadId: string }>();
    for (const path of [`/v1/inboxes/${id}/messages?${ALL}`, `/v1/messages?inboxId=${id}&${ALL}`]) {
      const { body } = await this.#s.get(path, { key: place.tenant.text });
      const messages: Reply['body'][] = Array.isArray(body.messages) ? body.messages : [];
      for (const message of messages) {
        if (message?.direction === 'inbound' && typeof message.id === 'string' && !found.has(message.id)) {
          found.set(message.id, message);
        }
      }
    }
    return [...found.values()];
  }

  /** Finds the mail that has arrived since `before`, and names its role. */
  #nameArrived(arrived: readonly { id: string; threadId: string }[], before: readonly { id: string }[], place: Place) {
    const message = arrived.find(({ id }) => !before.some((old) => old.id === id));
    if (!message) return undefined;
    this.#arrived += 1;
    this.#recording.name(message.id, `received message ${this.#arrived} of ${place.name}`);
    this.#recording.name(message.threadId, `the thread of received message ${this.#arrived} of ${place.name}`);
    return message;
  }

  async #waitForMail(place: Place, count: number) {
    const find = async () => {
      const found = await this.#inboundOf(place);
      return found.length >= count ? found : undefined;
    };
    return (await this.#s.waitOnce('mail', `${count} mails`, find).catch(() => undefined)) ?? [];
  }

  /** Reads everything with every key of the run. */
  async #read(places: readonly Place[]): Promise<void> {
    const keys = uniqueKeys(places.flatMap(({ tenant, workspace, inbox }) => [tenant, workspace, inbox]));
    const [place] = places as [Place];
    for (const row of OPERATION_ROWS.filter((each) => isRead(each) && each.tiers !== 'public')) {
      if (!row.path.includes('{')) {
        for (const key of keys) await this.#readAll(row, key, place, places);
        continue;
      }
      if (row.id === 'verifyDomain') continue;
      for (const key of keys) {
        const values = valuesFor(row, place);
        const isOwn = [place.tenant.text, place.workspace.text, place.inbox.text].includes(key.text);
        const isList = 'query' in row;
        const missing = row.id === 'getAttachment' && !this.#s.target.deliver ? NEEDS_OUTSIDE : undefined;
        const asked = { key, values, missing } as const;
        await this.#recording.ask(row.id, { ...asked, aspect: isOwn ? 'items' : 'isolation' });
        if (!isList || !isOwn) continue;
        for (const query of filtersWithin(row)) await this.#recording.ask(row.id, { ...asked, query, aspect: 'items' });
      }
    }
    await this.#recording.ask('getHealth', { aspect: 'reply', key: NO_KEY });
    const { domains } = place.values;
    const verifying = { key: place.tenant, values: domains, ignored: NOT_FROM_OUTSIDE } as const;
    await this.#recording.ask('verifyDomain', { ...verifying, aspect: 'reply' });
    for (const email of [place.email, 'no address']) {
      await this.#recording.ask('verifyEmail', { aspect: 'reply', key: place.tenant, body: { email } });
    }
  }

  /** Calls an operation that lists what a key can reach, without a filter and with each of its filters. */
  async #readAll(row: OperationRow, key: RoleKey, place: Place, places: readonly Place[]): Promise<void> {
    const isTenant = key.role === place.tenant.role || places.some(({ tenant }) => tenant.text === key.text);
    const counts = ['total', 'counts', 'resources', 'inbox', 'sent', 'starred', 'archived', 'trash', 'scope'];
    const everything = isTenant ? { hasOthersItems: true, ignored: counts } : {};
    const hasLimit = 'query' in row && row.query !== undefined && row.id === 'listAllMessages';
    const ask = (query: string, more: Partial<Asked> = {}) =>
      this.#recording.ask(row.id, { aspect: 'items', key, query, ...more });
    await ask(hasLimit ? `?${ALL}` : '', everything);
    if (!('query' in row)) return;
    const other = places.find(({ tenant }) => tenant.text !== place.tenant.text);
    const filters = filtersAcross(row, [place, ...places.slice(2, 3), ...(other ? [other] : [])]);
    const isOfFirst = [place.tenant.text, place.workspace.text, place.inbox.text].includes(key.text);
    const isOfOther = other !== undefined && [other.tenant.text, other.workspace.text].includes(key.text);
    if (!isOfFirst && !isOfOther) return;
    for (const { query, filter } of filters) await ask(query, { filter });
  }

  /** Creates, updates and deletes something of each kind, and reads it back after each step. */
  async #change(at: Place, other: Place, otherTenant: RoleKey | undefined): Promise<void> {
    for (const row of OPERATION_ROWS.filter(({ id, method }) => method === 'POST' && id in ITEM_PATHS)) {
      const key = row.id === 'createTenant' ? this.#operatorKey() : at.tenant;
      if (!isUsable(key)) continue;
      const object = `${row.id} ${row.path}`;
      const container = await this.#containerOf(row, at);
      const words = { email: other.email, workspaceId: at.workspaceId };
      const created = await this.#create(row.id, key, container, words, { operation: row.id, object, step: 0 });
      const item = itemValues(row, container, created);
      const own = { ...at, inbox: row.id === 'createInbox' ? toKey(created.apiKey) : at.inbox };
      const readers = { own, otherTenant, created };
      await this.#readBack(row, item, { operation: row.id, object, step: 0 }, readers);
      const itemPath = ITEM_PATHS[row.id] ?? '';
      const changes = OPERATION_ROWS.filter(
        ({ path, method }) => path === itemPath && (method === 'PATCH' || method === 'DELETE'),
      );
      for (const [index, change] of changes.entries()) {
        const of = { operation: change.id, object, step: index + 1 };
        const body = change.method === 'PATCH' ? this.#bodyOf(change.id, words) : undefined;
        await this.#recording.ask(change.id, { aspect: 'reply', key, values: item, body, of });
        await this.#readBack(row, item, of, readers);
      }
    }
  }

  #operatorKey(): RoleKey {
    return { role: 'the operator key', text: this.#s.target.operatorKey ?? '' };
  }

  /** The path of what contains the new object. A key needs a workspace of its own, an entry a list of its own. */
  async #containerOf({ id }: OperationRow, at: Place): Promise<PathValues> {
    if (id === 'createWorkspaceKey') return { id: (await this.#create('createWorkspace', at.tenant, {})).id };
    return { id: at.values.inboxes?.id, listId: at.values.inboxes?.listId };
  }

  /** Reads an object by its id, by the lists that show it, and with the keys of each tier. */
  async #readBack(
    row: OperationRow,
    item: PathValues,
    of: NonNullable<Asked['of']>,
    { own, otherTenant, created }: { own: Place; otherTenant: RoleKey | undefined; created: Reply['body'] },
  ): Promise<void> {
    const keys = [own.tenant, own.workspace, own.inbox, ...(otherTenant ? [otherTenant] : [])].filter(isUsable);
    for (const id of readersOf(row)) {
      const { path } = OPERATIONS[id];
      if (path === '/v1/me') {
        const key = toKey(created.key ?? created.apiKey, 'the new key');
        if (isUsable(key)) await this.#recording.ask(id, { aspect: 'effect', key, of });
        continue;
      }
      const sought = path.endsWith('}') ? undefined : id === 'listLists' ? item.listId : identityIn(row, item);
      for (const key of keys) {
        if (row.id === 'createTenant') continue;
        const pick =
          sought === undefined ? {} : { pick: (body: Reply['body']) => ({ listed: findItems(body, sought) }) };
        const query = id === 'listAllMessages' || id === 'listMessages' ? `?${ALL}` : '';
        await this.#recording.ask(id, { aspect: 'effect', key, values: item, of, query, note: `${of.step}`, ...pick });
      }
    }
  }

  /** Sends mail in each way between two new inboxes, and reads both inboxes after each mail. */
  async #mail(): Promise<void> {
    const tenant: RoleKey = { role: TENANT, text: this.#s.target.key };
    const workspaceId = this.#s.workspace.id;
    const inboxes: Place[] = [];
    for (const name of ['the sender', 'the recipient']) {
      const body = await this.#create('createInbox', tenant, {}, { workspaceId });
      const inbox = toKey(body.apiKey, `the key of ${name}`);
      const values = { inboxes: { id: body.id } };
      inboxes.push({ name, tenant, workspace: tenant, inbox, email: body.email, workspaceId, values });
    }
    const [sender, recipient] = inboxes as [Place, Place];
    if (!isUsable(sender.inbox) || !isUsable(recipient.inbox)) return;
    const step = async (id: OperationId, from: Place, to: Place, values: PathValues, words: Partial<Words> = {}) => {
      const before = await this.#inboundOf(to);
      const of = { operation: id, object: 'mail', step: stepCount };
      stepCount += 1;
      const sent = await this.#create(id, from.tenant, { id: from.values.inboxes?.id, ...values }, words, of);
      const arrived = sent.id === undefined ? [] : await this.#waitForMail(to, before.length + 1);
      const message = this.#nameArrived(arrived, before, to);
      for (const place of [to, from]) {
        const asked = { aspect: 'effect', key: place.inbox, values: { id: place.values.inboxes?.id }, of } as const;
        // The text of a forwarded mail contains words of the service.
        const ignored = id === 'forwardMessage' || isForwarded ? ['plainBody', 'htmlBody', 'snippet'] : [];
        for (const reader of ['listMessages', 'listThreads', 'listAllMessages', 'countFolders', 'getMetrics'] as const)
          await this.#recording.ask(reader, { ...asked, ignored, note: `after ${id}` });
      }
      isForwarded ||= id === 'forwardMessage';
      return message;
    };
    let stepCount = 0;
    let isForwarded = false;
    const first = await step('sendMessage', sender, recipient, {}, { email: recipient.email });
    if (!first) return;
    const answered = await step('replyToMessage', recipient, sender, { messageId: first.id });
    if (answered) await step('replyAllToMessage', sender, recipient, { messageId: answered.id });
    const draft = await this.#create('createDraft', tenant, sender.values.inboxes ?? {}, { email: recipient.email });
    await step('sendDraft', sender, recipient, { draftId: draft.id });
    const sentDraft = { ...sender.values.inboxes, draftId: draft.id };
    await this.#recording.ask('sendDraft', { aspect: 'reply', key: tenant, values: sentDraft, note: 'once more' });
    await step('forwardMessage', recipient, sender, { messageId: first.id }, { email: sender.email });
    await this.#changeMail(recipient, first);
  }

  /** Marks and deletes a received message, and reads it back. */
  async #changeMail(at: Place, { id: messageId, threadId }: { id: string; threadId: string }): Promise<void> {
    const values = { id: at.values.inboxes?.id, messageId, threadId };
    const readers = [
      'listMessages',
      'getMessage',
      'listAllMessages',
      'getThread',
      'listThreads',
      'countFolders',
      'getMetrics',
    ] as const;
    const readBack = async (operation: OperationId, step: number) => {
      const of = { operation, object: 'message', step };
      for (const id of readers) {
        // The window of the metrics is another one at each request.
        const pick: Partial<Asked> = /^list(?:All)?Messages$/.test(id)
          ? { pick: (body: Reply['body']) => ({ listed: findItems(body, messageId) }) }
          : id === 'getMetrics'
            ? { pick: ({ counts }: Reply['body']) => ({ counts }) }
            : {};
        const ignored = ['plainBody', 'htmlBody', 'snippet'];
        const asked = { aspect: 'effect', values, of, ignored, note: `${step}`, ...pick } as const;
        for (const key of [at.inbox, at.tenant]) {
          if ((id === 'countFolders' || id === 'getMetrics') && key === at.tenant) continue;
          await this.#recording.ask(id, { ...asked, key, query: id === 'listAllMessages' ? `?${ALL}` : '' });
        }
      }
    };
    await readBack('getMessage', 0);
    const change = { aspect: 'reply', key: at.inbox, values } as const;
    const ofUpdate = { operation: 'updateMessage', object: 'message', step: 1 } as const;
    await this.#recording.ask('updateMessage', { ...change, body: this.#bodyOf('updateMessage'), of: ofUpdate });
    await readBack('updateMessage', 1);
    const ofDelete = { operation: 'deleteMessage', object: 'message', step: 2 } as const;
    await this.#recording.ask('deleteMessage', { ...change, of: ofDelete });
    await readBack('deleteMessage', 2);
  }

  /** Receives a mail from outside with an attachment, if the target can receive one, and returns its ids. */
  async #receiveAttachment(at: Place): Promise<PathValues | undefined> {
    const { deliver } = this.#s.target;
    if (!deliver || at.email === undefined) return undefined;
    const before = await this.#inboundOf(at);
    const attachments = [{ filename: 'verify.txt', contentType: 'text/plain', content: 'dmVyaWZ5' }];
    const mail = { from: 'verify@verify.example', subject: 'verify attachment', plainBody: 'verify', attachments };
    await deliver({ ...mail, to: at.email });
    const arrived = await this.#waitForMail(at, before.length + 1);
    const message = this.#nameArrived(arrived, before, at) as Reply['body'];
    const attachmentId = this.#recording.name(message?.attachments?.[0]?.id, `the attachment of ${at.name}`);
    return { messageId: message?.id, threadId: message?.threadId, attachmentId };
  }

  /** Observes what each stream and each webhook is told of. */
  async events(): Promise<void> {
    this.#begin('events', 'what each stream and each webhook is told of');
    this.#s.begin('events');
    await this.#recording.note('streams: what each key is told of', 'sendMessage', () => observeEvents(this.#s));
    if (!this.#s.target.createReceiver) return;
    await this.#recording.note('deliveries: what each webhook is told of', 'createWebhook', () =>
      observeDeliveries(this.#s),
    );
  }

  /** Observes what the counts of a whole tenant do. These count also what was there before, so only changes are compared. */
  async #counts(): Promise<void> {
    this.#s.begin('counts');
    let observed: ReturnType<typeof observeCounts> | undefined;
    const observeOnce = async () => {
      observed ??= observeCounts(this.#s);
      return await observed;
    };
    for (const id of COUNTING) {
      await this.#recording.note(`${id}: the counts of a whole tenant`, id, async () => (await observeOnce())[id]);
    }
  }

  /** Rotates the keys of a new inbox and of a new workspace, and tries the old keys on every operation. */
  async #rotate(at: Place) {
    const inbox = await this.#create('createInbox', at.tenant, {}, { workspaceId: at.workspaceId });
    const of = (operation: OperationId, step: number) => ({ operation, object: 'rotation', step });
    const inInbox = { id: inbox.id };
    const readBack = async (step: number) => {
      for (const id of ['getInbox', 'listInboxes'] as const) {
        const pick =
          id === 'listInboxes' ? { pick: (body: Reply['body']) => ({ listed: findItems(body, inbox.id) }) } : {};
        const asked = { aspect: 'effect', values: inInbox, of: of('rotateInboxKey', step), ...pick } as const;
        for (const key of [at.tenant, at.workspace].filter(isUsable)) {
          await this.#recording.ask(id, { ...asked, key, note: `rotation ${step}` });
        }
      }
    };
    await readBack(0);
    const listId = (await this.#create('createList', at.tenant, inInbox)).id;
    const entryId = (await this.#create('createListEntry', at.tenant, { ...inInbox, listId })).id;
    const draftId = (await this.#create('createDraft', at.tenant, inInbox, { email: at.email })).id;
    const rotating = { aspect: 'reply', key: at.tenant, values: inInbox, of: of('rotateInboxKey', 1) } as const;
    const rotated = await this.#recording.ask('rotateInboxKey', rotating);
    const rotatedMs = performance.now();
    const isRotated = rotated !== undefined && inbox.apiKey !== undefined;
    const oldKey = { role: 'the old key of an inbox', text: isRotated ? inbox.apiKey : '' };
    const inboxes = { ...inInbox, listId, entryId, draftId, address: inbox.email };
    const place = { ...at, values: { ...at.values, inboxes } };
    await this.#tryOldKey(oldKey, place, 'at once', isRead);
    if (rotated?.key !== undefined) {
      const newKey = toKey(rotated.key, 'the new key of an inbox');
      for (const id of ['getMe', 'listMessages'] as const) {
        const ofKey = { ...of('rotateInboxKey', 1), object: `${id} with the new key` };
        await this.#recording.ask(id, { aspect: 'effect', key: newKey, of: ofKey, values: inInbox });
      }
    }
    await readBack(1);
    await this.#tryOldKey(oldKey, place, 'at once', (row) => !isRead(row));
    return { oldKey, place, rotatedMs };
  }

  /** Tries an old key on every operation. Those that delete are the last, so that the others have something to find. */
  async #tryOldKey(oldKey: RoleKey, place: Place, note: string, isTried = (_: OperationRow) => true): Promise<void> {
    if (!isUsable(oldKey)) return;
    const rows = OPERATION_ROWS.filter((row) => row.tiers !== 'public' && isTried(row));
    const order = (row: OperationRow) => ({ GET: 0, PATCH: 1, POST: 2, DELETE: 3 })[row.method];
    for (const row of rows.toSorted((a, b) => order(a) - order(b))) {
      const values = { ...unknownValues(row), ...valuesFor(row, place) };
      const body = this.#bodyOf(row.id, { email: place.email });
      await this.#recording.ask(row.id, { aspect: 'old key', key: oldKey, values, body, note });
    }
  }

  async #tryOldKeyAgain({ oldKey, place, rotatedMs }: { oldKey: RoleKey; place: Place; rotatedMs: number }) {
    if (!isUsable(oldKey)) return;
    const waitMs = OLD_KEY_PAUSE_MS - (performance.now() - rotatedMs);
    await (this.#s.target.advance ?? sleep)(Math.max(0, waitMs));
    await this.#tryOldKey(oldKey, place, 'after 5 s');
  }

  /** Tries to change what belongs to somebody else. */
  async #refuse(place: Place, sibling: Place, others: readonly Place[]): Promise<void> {
    const otherWorkspace = others.find(({ tenant }) => tenant.text === place.tenant.text);
    const otherTenant = others.find(({ tenant }) => tenant.text !== place.tenant.text);
    const keys = [
      sibling.inbox,
      otherWorkspace?.workspace,
      otherWorkspace?.inbox,
      otherTenant?.tenant,
      otherTenant?.inbox,
    ];
    const rows = OPERATION_ROWS.filter((row) => !isRead(row) && row.path.includes('{') && row.id !== 'deleteTenant');
    const order = (row: OperationRow) => (row.method === 'DELETE' ? 1 : 0);
    for (const row of rows.toSorted((a, b) => order(a) - order(b))) {
      for (const key of keys.filter((each) => each !== undefined).filter(isUsable)) {
        const body = this.#bodyOf(row.id, { email: place.email });
        await this.#recording.ask(row.id, { aspect: 'isolation', key, values: valuesFor(row, place), body });
      }
    }
    for (const key of keys.filter((each) => each !== undefined).filter(isUsable)) {
      for (const row of OPERATION_ROWS.filter(({ id }) => hasWorkspace(id))) {
        const body = this.#bodyOf(row.id, { workspaceId: place.workspaceId });
        await this.#recording.ask(row.id, { aspect: 'isolation', key, body });
      }
    }
  }

  /** Calls each operation without a key, with a wrong key, and with a key of each tier, on what does not exist. */
  async #tiers(place: Place): Promise<void> {
    const unknown = `ak_${this.#s.runId}${'x'.repeat(32)}`;
    const keys = [
      NO_KEY,
      { role: 'an unknown key', text: unknown },
      this.#operatorKey(),
      place.tenant,
      place.workspace,
      place.inbox,
    ];
    for (const row of OPERATION_ROWS.filter(({ tiers }) => tiers !== 'public')) {
      for (const key of keys) {
        if (!isUsable(key) && key !== NO_KEY) continue;
        if (isRead(row) && [place.tenant, place.workspace, place.inbox].includes(key)) continue;
        const values = unknownValues(row);
        // The body is not valid, so that a key that may call the operation creates nothing.
        const body = isRead(row) ? undefined : { email: 0, name: 0, username: 0, domain: 0, url: 0 };
        await this.#recording.ask(row.id, { aspect: 'tiers', key, values, body });
      }
    }
  }
}

const NO_WORDS: Words = { name: 'x', domain: 'x', email: 'x' };

/** Whether a body of the operation names a workspace. */
const hasWorkspace = (id: OperationId) => 'workspaceId' in (BODIES[id]?.({ ...NO_WORDS, workspaceId: 'x' }) ?? {});

function withMail(place: Place, mail: PathValues): Place {
  return { ...place, values: { ...place.values, inboxes: { ...place.values.inboxes, ...mail } } };
}

const toKey = (text: unknown, role = 'the key of the new inbox'): RoleKey => ({
  role,
  text: typeof text === 'string' ? text : '',
});

function uniqueKeys(keys: readonly RoleKey[]): RoleKey[] {
  return [...new Map(keys.filter(isUsable).map((key) => [key.text, key])).values()];
}

/** A path with ids that nothing has. */
function unknownValues({ path }: OperationRow): PathValues {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
  return Object.fromEntries(names.map((name) => [name, '00000000-0000-4000-8000-000000000000']));
}

/** The filters of a list whose items are all within one inbox. */
function filtersWithin({ id }: OperationRow): string[] {
  const pages = ['?limit=1', '?limit=1&offset=1'];
  return id === 'listMessages' ? [...pages, '?direction=inbound', '?direction=outbound'] : pages;
}

/** The filters of a list whose items are in several workspaces or inboxes, each with its description. */
function filtersAcross({ id }: OperationRow, places: readonly Place[]): { query: string; filter: string }[] {
  const workspaces = places.map(({ workspaceId, workspace }) => ({
    query: `?workspace=${workspaceId}`,
    filter: `workspace=${workspace.role.replace(/^the key of /, '')}`,
  }));
  if (!['listAllMessages', 'countFolders', 'getMetrics'].includes(id)) return workspaces;
  const parameter = id === 'getMetrics' ? 'inbox' : 'inboxId';
  const inboxes = places.map(({ values, name }) => ({
    query: `?${parameter}=${values.inboxes?.id}`,
    filter: `${parameter}=${name}`,
  }));
  if (id !== 'listAllMessages') return [...workspaces, ...inboxes];
  const pages = ['group=thread', 'limit=1', 'limit=1&offset=1', ...FOLDERS.map((folder) => `folder=${folder}`)];
  const [first] = workspaces;
  const further = pages.map((page) => ({ query: `${first?.query}&${page}`, filter: `${first?.filter}&${page}` }));
  return [...workspaces, ...inboxes, ...further];
}

/** The path of an object that an operation creates, by the operation. */
export const ITEM_PATHS: { readonly [Id in OperationId]?: string } = Object.fromEntries(
  OPERATION_ROWS.filter(({ method }) => method === 'POST').flatMap(({ id, path }) => {
    const item = OPERATION_ROWS.find((row) => row.path !== path && row.path.replace(/\/\{\w+\}$/, '') === path);
    return item ? [[id, item.path]] : [];
  }),
);

/** The values of the path of a new object. */
function itemValues(row: OperationRow, container: PathValues, created: Reply['body']): PathValues {
  const name = /\{(\w+)\}$/.exec(ITEM_PATHS[row.id] ?? '')?.[1] ?? 'id';
  const domain = created.domain?.domain ?? created.domain;
  const value = name === 'domain' ? domain : name === 'address' ? created.address : created.id;
  return { ...container, [name]: value };
}

/** What identifies an object in a list. */
function identityIn(row: OperationRow, item: PathValues): string {
  const name = /\{(\w+)\}$/.exec(ITEM_PATHS[row.id] ?? '')?.[1] ?? 'id';
  return (name === 'address' ? item.id : item[name]) ?? '';
}

/** The items of a list reply with an id or a name: one, or none. */
function findItems(body: Reply['body'], identity: string): unknown[] {
  const list = Object.values(body ?? {}).find(Array.isArray) ?? [];
  return list.filter((item: Reply['body']) => item?.id === identity || item?.domain === identity);
}

/** The operations that show what an operation has created: by its id, in a list, and in what contains it. */
function readersOf(row: OperationRow): OperationId[] {
  const itemPath = ITEM_PATHS[row.id] ?? '';
  const readers = OPERATION_ROWS.filter((each) => isRead(each) && (each.path === itemPath || each.path === row.path));
  return [...readers.map(({ id }) => id), ...(FURTHER_READERS[row.id] ?? [])];
}

/** The operations that show an object besides those at its own path. */
const FURTHER_READERS: { readonly [Id in OperationId]?: readonly OperationId[] } = {
  addInboxAddress: ['getInbox', 'listInboxes'],
  createListEntry: ['getList', 'listLists'],
  createWorkspaceKey: ['getMe'],
  createInbox: ['getMe'],
  createTenant: ['getMe'],
};
