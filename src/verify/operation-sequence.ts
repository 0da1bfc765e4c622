import type { ChangeableId } from '../contract/behaviours.ts';
import { FOLDERS } from '../contract/mail-folders.ts';
import { OPERATION_ROWS, OPERATIONS, type OperationId, type OperationRow } from '../contract/operations.ts';
import { Arrivals, type MailInbox } from './arrivals.ts';
import { WHOLE } from './attribute-differences.ts';
import { asKey, GROUPS, type Group } from './groups.ts';
import { NEEDS } from './needs.ts';
import { COUNTING, observeCounts } from './observe-counts.ts';
import { observeDeliveries, observeEvents } from './observe-events.ts';
import {
  type Asked,
  type Door,
  NOT_CREATED,
  type PathValues,
  type Recording,
  type RoleKey,
  type Step,
} from './recording.ts';
import { bodyVariants, queryVariants } from './request-variants.ts';
import { ALL, collectionOf, OF_WHOLE_TENANT, ofOthers, Scene } from './scene.ts';
import { VerifyError, type VerifySession } from './verify-session.ts';

/** How long after a rotation the old key is tried again, in milliseconds. */
const OLD_KEY_PAUSE_MS = 5000;

/** The roles of the keys of the two tenants. */
export const TENANT = 'the tenant key';
export const OTHER_TENANT = 'the key of the other tenant';

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

const NO_KEY: RoleKey = { role: 'no key', text: '' };

/** The key of an inbox or a workspace that could not be created: nothing is sent with it. */
const isUsable = ({ text }: RoleKey) => text !== '';

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
  readonly #options: SequenceOptions;
  readonly #arrivals: Arrivals;
  /** How many names were used, by the part of the sequence and the operation: a part that ends early changes no name. */
  readonly #names = new Map<string, number>();
  /** The workspaces of the run with what is in them, for reading the whole. */
  readonly #whole: Scene[] = [];
  /** The number of the latest checkpoint. */
  #checkpoint = 0;
  /** The groups of steps since the whole was last read. */
  #unread: string[] = [];

  constructor(recording: Recording, options: SequenceOptions = {}) {
    this.#recording = recording;
    this.#s = recording.session;
    this.#options = options;
    this.#arrivals = new Arrivals(recording);
  }

  async run(): Promise<void> {
    this.#s.begin('operations');
    const places: Place[] = [];
    for (const tenant of this.#tenants()) {
      this.#begin(`setup${places.length}`, `creating workspaces and inboxes with ${tenant.role}`);
      places.push(...(await this.#fillTenant(tenant)));
    }
    const [place, sibling, ...others] = places;
    if (!place || !sibling) return;
    if (this.#options.groups) {
      await this.#runGroups(place, this.#options.groups);
      return;
    }
    const slowness = this.#s.describeSlowness();
    if (slowness !== undefined) this.#options.onSlow?.(slowness);
    this.#begin('read', 'what each key sees');
    await this.#read(places);
    for (const groups of GROUPS) await this.#runGroups(place, Object.keys(groups));
    this.#begin('tenants', 'tenants');
    await this.#changeTenant();
    await this.events();
    this.#begin('counts', 'what each tenant counts');
    await this.#counts();
    this.#begin('input', 'which values each operation accepts');
    await this.#tryValues(place);
    this.#begin('rotate', 'rotated keys');
    const rotated = await this.#rotate(sibling);
    this.#begin('refuse', 'who is refused');
    await this.#refuse(place, sibling, others);
    await this.#tiers(place);
    this.#begin('keys', 'keys that are almost right, and deleted keys');
    await this.#tryKeyForms(place, sibling);
    await this.#tryDeletedKeys(place);
    await this.#checkWhole('refuse', { isLast: true });
    this.#begin('old', 'a rotated key after 5 s');
    await this.#tryOldKeyAgain(rotated);
  }

  #tenants(): RoleKey[] {
    const { key, secondKey } = this.#s.target;
    const second = secondKey === undefined ? [] : [{ role: OTHER_TENANT, text: secondKey }];
    return [{ role: TENANT, text: key }, ...second];
  }

  #begin(name: string, description: string): void {
    this.#recording.part = (this.#options.prefix ?? '') + name;
    this.#options.report?.(description);
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
  async #create(id: OperationId, key: RoleKey, values: PathValues, words?: Partial<Words>, of?: Step) {
    // Without the workspace that it names, the thing would be created in another one.
    const missing = Object.values(words ?? {}).includes(undefined) ? NOT_CREATED : undefined;
    const asked = { aspect: 'reply', key, values, body: this.#bodyOf(id, words), of, missing } as const;
    return (await this.#recording.ask(id, asked)) ?? {};
  }

  /** Creates two workspaces with two inboxes each, and something of each kind in them. */
  async #fillTenant(tenant: RoleKey): Promise<Place[]> {
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
      const scene = new Scene(this.#recording, WHOLE, { tenant, workspace, workspaceId });
      scene.knowKey({ role: 'the key of the first inbox of the run', text: this.#s.workspace.inboxKey });
      for (const place of [from, to]) {
        scene.knowKey(place.inbox);
        for (const [collection, values] of Object.entries(place.values)) scene.know(collection, values);
      }
      this.#whole.push(scene);
    }
    return places;
  }

  /** Runs groups of steps, each in a workspace of its own, and then reads the whole. */
  async #runGroups(place: Place, names: readonly string[]): Promise<void> {
    const groups: Readonly<Record<string, Group>> = Object.assign({}, ...GROUPS);
    for (const name of names) {
      const group = groups[name];
      if (!group) continue;
      this.#begin(name, `what each operation changes: ${name}`);
      const { tenant } = place;
      const role = `the workspace for the steps on ${name}`;
      const workspaceId = this.#recording.name((await this.#create('createWorkspace', tenant, {})).id, role);
      // A step of the group, because a request whose connection is closed is sent again, and makes two keys.
      const ofKey = { operation: 'createWorkspaceKey', group: name, step: 0 } as const;
      const key = await this.#create('createWorkspaceKey', tenant, { id: workspaceId }, undefined, ofKey);
      const workspace = asKey(this.#recording.name(key.key, `the key of ${role}`), `the key of ${role}`);
      const isThorough = this.#options.isThorough || this.#options.groups !== undefined;
      const readWhole = isThorough ? (of: Step) => this.#readWhole(of) : undefined;
      const scene = new Scene(this.#recording, name, { tenant, workspace, workspaceId }, readWhole);
      await scene.look(['listWorkspaceKeys'], ofKey);
      await group(scene, {
        newName: () => this.#newName('createInbox'),
        domain: this.#s.domain,
        arrivals: this.#arrivals,
        name: (value, ofValue) => this.#recording.name(value, ofValue),
      });
      await scene.lookAtAll();
    }
    await this.#checkWhole(names.join(' '), { isLast: this.#options.groups !== undefined });
  }

  /**
   * Reads the whole after some groups of steps, if there is time for it; at the end always. What differs first here, one of
   * the groups since the last reading has changed.
   */
  async #checkWhole(groups: string, { isLast }: { readonly isLast: boolean }): Promise<void> {
    this.#checkpoint += 1;
    this.#unread.push(groups);
    const isDue = this.#options.checkpoints?.has(this.#checkpoint) ?? (isLast || this.#s.isAhead());
    if (!isDue) return;
    this.#recording.checkpoints.add(this.#checkpoint);
    const group = `${WHOLE} ${this.#unread.splice(0).join(' ')}`;
    await this.#readWhole({ operation: 'createWorkspace', group, step: this.#checkpoint });
  }

  /** Reads what the run has created in both tenants before the groups of steps, which none of them may change. */
  async #readWhole(of: Step): Promise<void> {
    for (const scene of this.#whole) await scene.look(WHOLE_READERS, of);
    const lists = ['listWebhooks', 'listWorkspaces', 'listInboxes', 'listDomains'] as const;
    await this.#recording.askAll(
      this.#tenants().flatMap((key) =>
        lists.map((id) => [id, { aspect: 'effect', key, of, note: 'whole', ...OF_WHOLE_TENANT }] as const),
      ),
    );
  }

  /** Creates and deletes a tenant, if there is an operator key. */
  async #changeTenant(): Promise<void> {
    const key = this.#operatorKey();
    if (!isUsable(key)) return;
    const of = (operation: OperationId, step: number) => ({ operation, group: 'tenants', step });
    const created = await this.#create('createTenant', key, {}, undefined, of('createTenant', 1));
    const tenant = asKey(created.apiKey, 'the key of the new tenant');
    const look = async (step: Step) => {
      if (!isUsable(tenant)) return;
      await this.#recording.askAll(
        (['getMe', 'listWorkspaces', 'listInboxes', 'listWebhooks'] as const).map(
          (id) => [id, { aspect: 'effect', key: tenant, of: step, note: `${step.step}` }] as const,
        ),
      );
    };
    await look(of('createTenant', 1));
    const ofDelete = of('deleteTenant', 2);
    await this.#recording.ask('deleteTenant', { aspect: 'reply', key, values: { id: created.id }, of: ofDelete });
    await look(ofDelete);
  }

  /** Sends each operation other values for each of its fields, at its limits and beyond. */
  async #tryValues(place: Place): Promise<void> {
    const { tenant } = place;
    const workspaceId = (await this.#create('createWorkspace', tenant, {})).id;
    const { id, email } = await this.#create('createInbox', tenant, {}, { workspaceId });
    const webhook = await this.#create('createWebhook', tenant, {}, { workspaceId });
    const draftId = (await this.#create('createDraft', tenant, { id }, { email })).id;
    const listId = (await this.#create('createList', tenant, { id })).id;
    const values = (row: OperationRow): PathValues => {
      if (collectionOf(row.path) === 'webhooks') return { id: webhook.id };
      if (collectionOf(row.path) === 'workspaces') return { ...unknownValues(row), id: workspaceId };
      // A message that does not exist is refused after its body: the messages of the run stay as they are.
      return { ...unknownValues(row), id, draftId, listId };
    };
    const words = { workspaceId, email };
    const missing = [workspaceId, email, id].includes(undefined) ? NOT_CREATED : undefined;
    for (const row of OPERATION_ROWS) {
      if (row.id === 'createTenant') continue;
      for (const { note, changes } of bodyVariants(row)) {
        // A name that is taken would be another refusal, so each request has names of its own.
        const body = { ...this.#bodyOf(row.id, words), ...changes };
        // The service chooses a name that is missing, and an experiment finds in which form.
        if (row.id === 'createInbox' && !(body as { username?: unknown }).username) continue;
        const ignored = ['updatedAt'];
        const own = { values: values(row), missing };
        await this.#recording.ask(row.id, { aspect: 'input', key: tenant, ...own, body, note, ignored });
      }
      const isWithin = row.path.includes('{');
      const existing = row.method === 'GET' ? valuesFor(row, place) : values(row);
      for (const [name, unknown] of Object.entries(unknownValues(row))) {
        if (row.id === 'deleteTenant') continue;
        const note = `with an unknown ${name}`;
        const body = this.#bodyOf(row.id, words);
        const own = { ...existing, [name]: unknown };
        await this.#recording.ask(row.id, { aspect: 'input', key: tenant, values: own, body, note, missing });
      }
      if (row.method !== 'GET') continue;
      const asked = { aspect: 'input', ignored: ['window'] } as const;
      const key = isWithin ? tenant : place.workspace;
      if (!isUsable(key)) continue;
      await this.#recording.askAll(
        queryVariants(row).map(
          (query) => [row.id, { ...asked, key, values: isWithin ? valuesFor(row, place) : {}, query }] as const,
        ),
      );
    }
    for (const operation of ['createList', 'createDraft', 'createWebhook'] as const) {
      await this.#recording.note(`${operation}: two at once`, operation, async () => {
        if (missing !== undefined) throw new VerifyError(missing.message, missing);
        const path = OPERATIONS[operation].path.replace('{id}', String(id));
        const bodies = [this.#bodyOf(operation, words), this.#bodyOf(operation, words)];
        const replies = await Promise.all(bodies.map((body) => this.#s.post(path, body, { key: tenant.text })));
        const ids = new Set(replies.map((reply) => reply.body.id));
        return { statuses: replies.map(({ status }) => status).toSorted(), things: ids.size };
      });
    }
  }

  /** Tries keys that are almost right: shortened, lengthened, in other letters, and sent in each way that clients have. */
  async #tryKeyForms(place: Place, sibling: Place): Promise<void> {
    const forms = [place.tenant, place.workspace, place.inbox].filter(isUsable).flatMap(({ role, text }) => [
      { role: `${role} without its last letter`, text: text.slice(0, -1) },
      { role: `${role} with one letter more`, text: `${text}x` },
      { role: `${role} in other letters`, text: text.slice(0, 3) + swapCase(text.slice(3)) },
    ]);
    const doors = ['X-API-Key', 'Bearer', 'query'] as const satisfies Door[];
    const rows = OPERATION_ROWS.filter(({ tiers, id }) => tiers !== 'public' && id !== 'deleteTenant');
    const aspect = 'key forms';
    const asked = rows.flatMap((row, index) => {
      const values = unknownValues(row);
      const body = isRead(row) ? undefined : INVALID_BODY;
      return forms.flatMap((key, form) => {
        // One operation tries each form in each way, the others take turns.
        const turn = (index + form) % doors.length;
        const tried = row.id === 'getMe' ? doors : doors.slice(turn, form % 3 === index % 3 ? turn + 1 : turn);
        return tried.map((door) => [row.id, { aspect, key, values, body, door }] as const);
      });
    });
    await this.#recording.askAll(asked);
    // A key in the query opens a stream, and nothing else.
    const inQuery = { aspect, door: 'query', key: place.tenant } as const;
    await this.#recording.askAll(
      rows.filter(isRead).map((row) => [row.id, { ...inQuery, values: unknownValues(row) }] as const),
    );
    const ways = [
      ['HEAD', NO_KEY],
      ['OPTIONS', NO_KEY],
      ['HEAD', sibling.inbox],
    ] as const;
    await this.#recording.askAll(
      ways.flatMap(([method, key]) =>
        rows
          .filter((row) => isRead(row) && (key === NO_KEY || isUsable(key)))
          .map((row) => {
            const values = { ...unknownValues(row), ...valuesFor(row, place) };
            return [row.id, { aspect: 'tiers', method, key, values }] as const;
          }),
      ),
    );
  }

  /** Deletes a key of a workspace, an inbox and a workspace, and tries their keys on what they could read before. */
  async #tryDeletedKeys(place: Place): Promise<void> {
    const { tenant } = place;
    const workspaceId = (await this.#create('createWorkspace', tenant, {})).id;
    const inWorkspace = { id: workspaceId };
    const inbox = await this.#create('createInbox', tenant, {}, { workspaceId });
    const first = await this.#create('createWorkspaceKey', tenant, inWorkspace);
    const second = await this.#create('createWorkspaceKey', tenant, inWorkspace);
    const attempts: readonly (readonly [OperationId, PathValues, RoleKey])[] = [
      ['deleteWorkspaceKey', { ...inWorkspace, key_id: first.id }, asKey(first.key, 'a deleted key of a workspace')],
      ['deleteInbox', { id: inbox.id }, asKey(inbox.apiKey, 'the key of a deleted inbox')],
      ['deleteWorkspace', inWorkspace, asKey(second.key, 'the key of a deleted workspace')],
    ];
    for (const [index, [operation, values, key]] of attempts.entries()) {
      const of = { operation, group: 'deleted keys', step: index + 1 };
      await this.#recording.ask(operation, { aspect: 'reply', key: tenant, values, note: 'with its key', of });
      if (!isUsable(key)) continue;
      const rows = OPERATION_ROWS.filter((row) => isRead(row) && row.tiers !== 'public');
      await this.#recording.askAll(
        rows.flatMap((row) => {
          const isOfInbox = collectionOf(row.path) === 'inboxes';
          const own = isOfInbox ? { ...unknownValues(row), id: inbox.id } : unknownValues(row);
          const asked: Asked = { aspect: 'effect', key, values: own, of };
          return [[row.id, asked] as const];
        }),
      );
    }
  }

  /** Sends a mail, and returns the ids of the received message; no ids if it has not arrived. */
  async #mailBetween(from: Place, to: Place): Promise<PathValues> {
    const { arrived } = await this.#arrivals.during([inboxOf(to)], async () => {
      const values = { id: from.values.inboxes?.id };
      const sent = await this.#create('sendMessage', from.tenant, values, { email: to.email });
      return sent.id === undefined ? undefined : sent;
    });
    return { messageId: arrived[0]?.id, threadId: arrived[0]?.threadId };
  }

  /** Reads everything with every key of the run. */
  async #read(places: readonly Place[]): Promise<void> {
    const keys = uniqueKeys(places.flatMap(({ tenant, workspace, inbox }) => [tenant, workspace, inbox]));
    const [place] = places as [Place];
    for (const row of OPERATION_ROWS.filter((each) => isRead(each) && each.tiers !== 'public')) {
      if (row.id === 'verifyDomain') continue;
      const asked: [OperationId, Asked][] = [];
      for (const key of keys) {
        if (!row.path.includes('{')) {
          asked.push(...this.#readingsOfAll(row, key, place, places));
          continue;
        }
        const values = valuesFor(row, place);
        const isOwn = [place.tenant.text, place.workspace.text, place.inbox.text].includes(key.text);
        const aspect = isOwn ? 'items' : 'isolation';
        const missing = row.id === 'getAttachment' && !this.#s.target.deliver ? NEEDS['mail from outside'] : undefined;
        const request = { key, values, missing } as const;
        const queries = 'query' in row ? ['', ...filtersWithin(row)] : [''];
        for (const query of queries) asked.push([row.id, { ...request, query, aspect }]);
      }
      // The first to get a message marks it as read, so that what each of several gets depends on their order.
      await this.#recording.askAll(asked, row.id === 'getMessage' ? 1 : undefined);
    }
    await this.#recording.ask('getHealth', { aspect: 'reply', key: NO_KEY });
    const { domains } = place.values;
    const verifying = { key: place.tenant, values: domains, ignored: NOT_FROM_OUTSIDE } as const;
    await this.#recording.ask('verifyDomain', { ...verifying, aspect: 'reply' });
    const unknown = `${this.#newName('verifyEmail')}@${this.#s.domain}`;
    for (const email of [place.email, unknown, 'no address']) {
      // A server that accepts all mail to its domain may call each address of it valid.
      const isOpen = email === unknown && this.#options.isTold?.('sending.unknown-user') === false;
      const missing = isOpen
        ? { message: 'what the server does with mail for unknown addresses was not observed' }
        : undefined;
      await this.#recording.ask('verifyEmail', { aspect: 'reply', key: place.tenant, body: { email }, missing });
    }
  }

  /** The requests of an operation that lists what a key can reach, without a filter and with each of its filters. */
  #readingsOfAll(row: OperationRow, key: RoleKey, place: Place, places: readonly Place[]): [OperationId, Asked][] {
    const isTenant = key.role === place.tenant.role || places.some(({ tenant }) => tenant.text === key.text);
    const everything = ofOthers(row.id, isTenant);
    const hasLimit = 'query' in row && row.query !== undefined && row.id === 'listAllMessages';
    const whole: [OperationId, Asked] = [
      row.id,
      { aspect: 'items', key, query: hasLimit ? `?${ALL}` : '', ...everything },
    ];
    if (!('query' in row)) return [whole];
    const other = places.find(({ tenant }) => tenant.text !== place.tenant.text);
    const filters = filtersAcross(row, [place, ...places.slice(2, 3), ...(other ? [other] : [])]);
    const isOfFirst = [place.tenant.text, place.workspace.text, place.inbox.text].includes(key.text);
    const isOfOther = other !== undefined && [other.tenant.text, other.workspace.text].includes(key.text);
    if (!isOfFirst && !isOfOther) return [whole];
    return [whole, ...filters.map((each): [OperationId, Asked] => [row.id, { aspect: 'items', key, ...each }])];
  }

  #operatorKey(): RoleKey {
    return { role: 'the operator key', text: this.#s.target.operatorKey ?? '' };
  }

  /** Receives a mail from outside with an attachment, if the target can receive one, and returns its ids. */
  async #receiveAttachment(at: Place): Promise<PathValues | undefined> {
    const { deliver } = this.#s.target;
    if (!deliver || at.email === undefined) return undefined;
    const attachments = [{ filename: 'verify.txt', contentType: 'text/plain', content: 'dmVyaWZ5' }];
    const mail = { from: 'verify@verify.example', subject: 'verify attachment', plainBody: 'verify', attachments };
    const { arrived } = await this.#arrivals.during([inboxOf(at)], async () => {
      await deliver({ ...mail, to: at.email });
      return true;
    });
    const [message] = arrived;
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

  /** Rotates the key of a new inbox, and tries the old key on every operation. */
  async #rotate(at: Place) {
    const inbox = await this.#create('createInbox', at.tenant, {}, { workspaceId: at.workspaceId });
    const inInbox = { id: inbox.id };
    const listId = (await this.#create('createList', at.tenant, inInbox)).id;
    const entryId = (await this.#create('createListEntry', at.tenant, { ...inInbox, listId })).id;
    const draftId = (await this.#create('createDraft', at.tenant, inInbox, { email: at.email })).id;
    const rotated = await this.#recording.ask('rotateInboxKey', { aspect: 'reply', key: at.tenant, values: inInbox });
    const rotatedMs = performance.now();
    const isRotated = rotated !== undefined && inbox.apiKey !== undefined;
    const oldKey = { role: 'the old key of an inbox', text: isRotated ? inbox.apiKey : '' };
    const inboxes = { ...inInbox, listId, entryId, draftId, address: inbox.email };
    const place = { ...at, values: { ...at.values, inboxes } };
    await this.#tryOldKey(oldKey, place, 'at once', isRead);
    const newKey = asKey(rotated?.key, 'the new key of an inbox');
    if (isUsable(newKey)) {
      for (const id of ['getMe', 'listMessages'] as const) {
        const of = { operation: 'rotateInboxKey' as const, group: `${id} with the new key`, step: 1 };
        await this.#recording.ask(id, { aspect: 'effect', key: newKey, of, values: inInbox });
      }
    }
    await this.#tryOldKey(oldKey, place, 'at once', (row) => !isRead(row));
    return { oldKey, place, rotatedMs };
  }

  /** Tries an old key on every operation. Those that delete are the last, so that the others have something to find. */
  async #tryOldKey(oldKey: RoleKey, place: Place, note: string, isTried = (_: OperationRow) => true): Promise<void> {
    const missing = isUsable(oldKey) ? undefined : NOT_CREATED;
    const rows = OPERATION_ROWS.filter((row) => row.tiers !== 'public' && isTried(row));
    const order = (row: OperationRow) => ({ GET: 0, PATCH: 1, POST: 2, DELETE: 3 })[row.method];
    for (const row of rows.toSorted((a, b) => order(a) - order(b))) {
      const values = { ...unknownValues(row), ...valuesFor(row, place) };
      const body = this.#bodyOf(row.id, { email: place.email });
      const asked = { aspect: 'old key', key: oldKey, values, body, note, missing } as const;
      await this.#recording.ask(row.id, asked);
      if (isRead(row) && note === 'at once') {
        await this.#recording.ask(row.id, { ...asked, door: 'Bearer' });
        await this.#recording.ask(row.id, { ...asked, method: 'HEAD' });
      }
    }
  }

  async #tryOldKeyAgain({ oldKey, place, rotatedMs }: { oldKey: RoleKey; place: Place; rotatedMs: number }) {
    const waitMs = isUsable(oldKey) ? OLD_KEY_PAUSE_MS - (performance.now() - rotatedMs) : 0;
    const { advance = (ms: number) => this.#s.pause(ms) } = this.#s.target;
    await advance(Math.max(0, waitMs));
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
    const tried = OPERATION_ROWS.filter(({ tiers }) => tiers !== 'public').flatMap((row) =>
      keys
        .filter((key) => isUsable(key) || key === NO_KEY)
        .filter((key) => !isRead(row) || ![place.tenant, place.workspace, place.inbox].includes(key))
        .map((key) => {
          // The body is not valid, so that a key that may call the operation creates nothing.
          const body = isRead(row) ? undefined : INVALID_BODY;
          return [row.id, { aspect: 'tiers', key, values: unknownValues(row), body }] as const;
        }),
    );
    await this.#recording.askAll(tried);
  }
}

/** A body that no operation accepts, so that a key that may call the operation creates nothing. */
const INVALID_BODY = { email: 0, name: 0, username: 0, domain: 0, url: 0 };

/** The operations that show the whole at a checkpoint. What a list shows completely is not read one by one. */
const WHOLE_READERS: readonly OperationId[] = [
  'listWebhooks',
  'listWorkspaceKeys',
  'getWorkspace',
  'listDomains',
  'listInboxes',
  'getInbox',
  'listMessages',
  'listThreads',
  'listDrafts',
  'listLists',
  'listListEntries',
  'listAllMessages',
  'countFolders',
  'getMetrics',
  'getMe',
];

const swapCase = (text: string) =>
  [...text].map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase())).join('');

const inboxOf = ({ name, values, email, tenant }: Place): MailInbox => ({
  name,
  id: values.inboxes?.id,
  email,
  reader: tenant,
});

/** What is run of a sequence. */
export interface SequenceOptions {
  /** Called with the name of each part when the part begins. */
  readonly report?: ((step: string) => void) | undefined;
  /** Called with a sentence if the time of the run will not be enough. */
  readonly onSlow?: ((sentence: string) => void) | undefined;
  /** Only these groups of steps, after each step of which the whole is read. */
  readonly groups?: readonly string[] | undefined;
  /** Whether the whole is read after each step, and not only between groups. */
  readonly isThorough?: boolean | undefined;
  /** The numbers of the checkpoints at which the whole is read. Default: as many as the time of the run allows. */
  readonly checkpoints?: ReadonlySet<number> | undefined;
  /** The begin of all names of a sequence that runs once more. */
  readonly prefix?: string;
  /** Whether it is known how the server behaves in a point. By default, it is known of each. */
  readonly isTold?: ((id: ChangeableId) => boolean) | undefined;
}

const NO_WORDS: Words = { name: 'x', domain: 'x', email: 'x' };

/** Whether a body of the operation names a workspace. */
const hasWorkspace = (id: OperationId) => 'workspaceId' in (BODIES[id]?.({ ...NO_WORDS, workspaceId: 'x' }) ?? {});

function withMail(place: Place, mail: PathValues): Place {
  return { ...place, values: { ...place.values, inboxes: { ...place.values.inboxes, ...mail } } };
}

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
