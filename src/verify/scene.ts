import { setTimeout as sleep } from 'node:timers/promises';
import { OPERATION_ROWS, OPERATIONS, type OperationId, type OperationRow } from '../contract/operations.ts';
import { type Asked, NOT_CREATED, type PathValues, type Recording, type RoleKey, type Step } from './recording.ts';
import type { Reply } from './verify-session.ts';

/** The number of things of this run is small, so one page has all of its items. */
export const ALL = 'limit=200';

/** The first part of a path after the version, such as `webhooks`. */
export const collectionOf = (path: string) => path.split('/')[2] ?? '';

/** The path of an object that an operation creates, by the operation. */
export const ITEM_PATHS: { readonly [Id in OperationId]?: string } = Object.fromEntries(
  OPERATION_ROWS.filter(({ method }) => method === 'POST').flatMap(({ id, path }) => {
    const item = OPERATION_ROWS.find((row) => row.path !== path && row.path.replace(/\/\{\w+\}$/, '') === path);
    return item ? [[id, item.path]] : [];
  }),
);

/** The values of the path of a new object. */
export function itemValues(row: OperationRow, container: PathValues, created: Reply['body']): PathValues {
  const name = /\{(\w+)\}$/.exec(ITEM_PATHS[row.id] ?? '')?.[1] ?? 'id';
  const domain = created.domain?.domain ?? created.domain;
  const value = name === 'domain' ? domain : name === 'address' ? created.address : created.id;
  return { ...container, [name]: value };
}

/** What operations can touch, by a part of their path: the operations that show it. */
const READERS: readonly (readonly [path: RegExp, readers: readonly OperationId[]])[] = [
  [/^\/v1\/webhooks/, ['listWebhooks', 'getWebhook']],
  [/^\/v1\/workspaces\/\{id\}\/keys/, ['listWorkspaceKeys']],
  [/^\/v1\/workspaces/, ['listWorkspaces', 'getWorkspace']],
  [/^\/v1\/domains/, ['listDomains', 'getDomain', 'getWorkspace']],
  [/\/drafts/, ['listDrafts', 'getDraft']],
  [/\/lists/, ['listLists', 'getList', 'listListEntries']],
  [
    /\/(?:messages|threads|send|reply|reply-all|forward)\b/,
    ['listMessages', 'listThreads', 'listAllMessages', 'countFolders', 'getMetrics'],
  ],
  [/^\/v1\/inboxes(?:\/\{id\})?(?:\/addresses.*|\/keys)?$/, ['listInboxes', 'getInbox', 'getWorkspace']],
];

/** Every operation that shows something, without those that change what they show. */
const ALL_READERS = OPERATION_ROWS.filter(
  ({ method, id, tiers }) => method === 'GET' && tiers !== 'public' && !['getMessage', 'verifyDomain'].includes(id),
).map(({ id }) => id);

/** Lists of a whole tenant count what others have too. */
const COUNTS_OF_TENANT = [
  'total',
  'counts',
  'resources',
  'inbox',
  'sent',
  'starred',
  'archived',
  'trash',
  'scope',
  'inboxCount',
  'domainCount',
];

/** The fields that have words of the service, if a mail was forwarded. */
const WORDS_OF_SERVICE = ['plainBody', 'htmlBody', 'snippet'];

/** A thing of a scene: the values that its paths have, for the collection in which it is. */
interface Thing {
  readonly collection: string;
  readonly values: PathValues;
}

/**
 * A workspace with a group of steps of its own. After each step, what the step can touch is read, with the things
 * beside it, so that a step that changes too much or too little is seen, without a rule for it.
 */
export class Scene {
  readonly group: string;
  readonly tenant: RoleKey;
  readonly workspaceId: string | undefined;
  readonly #recording: Recording;
  /** A key of the workspace: its lists have only what is of the scene. */
  readonly #key: RoleKey;
  readonly #things: Thing[] = [];
  /** The keys of the scene that must stay valid. */
  readonly #keys: RoleKey[] = [];
  /** Reads what is outside of the scene, if that is to be read after each step. */
  readonly #afterStep: ((of: Step) => Promise<void>) | undefined;
  #step = 0;
  #latest: OperationId = 'createWorkspace';
  #hasForwarded = false;

  constructor(
    recording: Recording,
    group: string,
    keys: { readonly tenant: RoleKey; readonly workspace: RoleKey; readonly workspaceId: string | undefined },
    afterStep?: (of: Step) => Promise<void>,
  ) {
    this.#recording = recording;
    this.group = group;
    this.tenant = keys.tenant;
    this.#key = keys.workspace;
    this.workspaceId = keys.workspaceId;
    this.#afterStep = afterStep;
    this.know('workspaces', { id: keys.workspaceId });
    this.knowKey(keys.workspace);
  }

  /**
   * Adds a thing to those that are read after each step. One that could not be created, so that an id is missing, has a
   * number too, because a reading is compared with the reading of the thing of the same number.
   */
  know(collection: string, values: PathValues): void {
    this.#things.push({ collection, values });
  }

  /** Adds a key, with which the scene looks whether it is still valid. */
  knowKey(key: RoleKey): void {
    if (key.text !== '') this.#keys.push(key);
  }

  /** A key that the scene has ended must not be read with again. */
  forgetKey(text: string | undefined): void {
    const index = this.#keys.findIndex((key) => key.text === text);
    if (index >= 0) this.#keys.splice(index, 1);
  }

  /** Runs an operation, learns what it has created, and reads what it can touch. Returns the body of a success. */
  async do(
    operation: OperationId,
    values: PathValues,
    body?: object,
    key?: RoleKey,
  ): Promise<Reply['body'] | undefined> {
    const [reply, read] = await this.begin(operation, values, body, key);
    await read();
    return reply;
  }

  /** Runs an operation. Returns the body of a success, and a function that reads what the operation can touch. */
  async begin(operation: OperationId, values: PathValues, body?: object, key = this.tenant) {
    const row = OPERATION_ROWS.find(({ id }) => id === operation) as OperationRow;
    this.#step += 1;
    this.#latest = operation;
    const of = { operation, group: this.group, step: this.#step };
    // So that a time that the operation sets is another one than that of the step before.
    await sleep(2);
    const note = `${this.group} ${this.#step}`;
    // A step with another body would be another step.
    const missing = Object.values(body ?? {}).includes(undefined) ? NOT_CREATED : undefined;
    const reply = await this.#recording.ask(operation, { aspect: 'reply', key, values, body, note, of, missing });
    if (operation in ITEM_PATHS) this.know(collectionOf(row.path), itemValues(row, values, reply ?? {}));
    if (operation === 'forwardMessage') this.#hasForwarded = true;
    const read = async () => {
      await this.look(this.#afterStep ? ALL_READERS : readersOf(row), of);
      await this.#afterStep?.(of);
    };
    return [reply, read] as const;
  }

  /** Reads every thing of the scene by some operations. */
  async look(readers: readonly OperationId[], of: Step): Promise<void> {
    const asked = readers.flatMap((id) => this.#requestsOf(id));
    await this.#recording.askAll(
      asked.map(([id, request]) => [
        id,
        {
          aspect: 'effect',
          of,
          // Several copies of a mail may arrive in any order.
          ignoresOrder: id === 'listAllMessages',
          ...request,
          ignored: [...(request.ignored ?? []), ...(this.#hasForwarded && !/Draft/.test(id) ? WORDS_OF_SERVICE : [])],
          note: `${this.group} ${of.step} ${request.note ?? ''}`,
        },
      ]),
    );
  }

  /** Reads everything of the scene, and looks whether its keys are valid. */
  async lookAtAll(): Promise<void> {
    await this.look(ALL_READERS, { operation: this.#latest, group: this.group, step: this.#step + 1 });
  }

  /** The requests by which an operation reads all that it can show of the scene. */
  #requestsOf(id: OperationId): (readonly [OperationId, Partial<Asked> & Pick<Asked, 'key'>])[] {
    const { path } = OPERATIONS[id];
    if (id === 'getMe') return this.#keys.map((key) => [id, { key }] as const);
    const query = /^list(?:All)?(?:Messages|Threads|Drafts)$/.test(id) ? `?${ALL}` : '';
    // A workspace key may not be allowed to read what is outside of inboxes.
    const readers = /^\/v1\/inboxes\/\{id\}\/|messages/.test(path) ? [this.#key] : [this.#key, this.tenant];
    if (!path.includes('{')) {
      return readers.map((key) => {
        return [id, { key, query, ...ofOthers(id, key === this.tenant) }] as const;
      });
    }
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
    const seen = new Map<string, { readonly values: PathValues; readonly note: string }>();
    for (const [index, { collection, values }] of this.#things.entries()) {
      if (collection !== collectionOf(path) || !names.every((name) => values[name] !== undefined)) continue;
      const own = Object.fromEntries(names.map((name) => [name, values[name]]));
      const same = Object.values(own).join(' ');
      if (!seen.has(same)) seen.set(same, { values: own, note: `${index + 1}` });
    }
    return [...seen.values()].flatMap(({ values, note }) =>
      readers.map((key) => [id, { key, values, query, note }] as const),
    );
  }
}

/** The operations that show what an operation can touch. */
export function readersOf({ path }: OperationRow): readonly OperationId[] {
  const readers = READERS.filter(([pattern]) => pattern.test(path)).flatMap(([, ids]) => ids);
  return [...new Set([...readers, ...(/\/keys|drafts\/\{draftId\}\/send/.test(path) ? FURTHER : [])])];
}

/** What ends keys, or sends mail by another path. */
const FURTHER: readonly OperationId[] = ['getMe', 'listMessages', 'listThreads', 'countFolders', 'getMetrics'];

/** How a list of a whole tenant is compared, in which others have things too. */
export const OF_WHOLE_TENANT = { hasOthersItems: true, ignored: COUNTS_OF_TENANT } as const;

/**
 * Returns how a list is compared. Others have things in that of a tenant key, and in the webhooks of any key, because the
 * list of a workspace key may have those of the whole tenant.
 */
export function ofOthers(id: OperationId, isOfTenant: boolean) {
  return isOfTenant || id === 'listWebhooks' ? OF_WHOLE_TENANT : {};
}
