import type { MailboxState, TenantState } from 'agent-mailbox-mock';

/** What a mailbox is made of, as far as one thing hangs on another; messages are counted at their inbox. */
export type Kind =
  | 'tenant'
  | 'workspace'
  | 'inbox'
  | 'deleted inbox'
  | 'address'
  | 'key'
  | 'domain'
  | 'webhook'
  | 'draft'
  | 'list'
  | 'entry';

interface Node {
  readonly kind: Kind;
  readonly parent: string | null;
  readonly messages: number;
}

/**
 * The model: a tree in which what hangs on a thing goes when the thing goes.
 * Things are named by their ids, but keys and addresses by their texts.
 */
export class Tree {
  #nodes = new Map<string, Node>();

  add(kind: Kind, name: string, parent: string | null): void {
    if (this.#nodes.has(name)) throw new Error(`There are two things called ${name}.`);
    this.#nodes.set(name, { kind, parent, messages: 0 });
  }

  has(name: string): boolean {
    return this.#nodes.has(name);
  }

  parentOf(name: string): string | null {
    return this.#nodes.get(name)?.parent ?? null;
  }

  /** Removes a thing with everything that hangs on it. */
  remove(name: string): void {
    this.#removeBelow(name);
    this.#nodes.delete(name);
  }

  /** Removes what hangs on an inbox; it stays with its messages, out of sight. */
  deleteInbox(name: string): void {
    this.#removeBelow(name);
    this.#change(name, { kind: 'deleted inbox' });
  }

  removeBelow(name: string, kind: Kind): void {
    for (const child of this.#childrenOf(name)) if (this.#nodes.get(child)?.kind === kind) this.remove(child);
  }

  /** Counts a message more in an inbox. */
  addMessage(inbox: string): void {
    this.#change(inbox, { messages: (this.#nodes.get(inbox)?.messages ?? 0) + 1 });
  }

  /** Counts a message less in an inbox. */
  removeMessage(inbox: string): void {
    this.#change(inbox, { messages: (this.#nodes.get(inbox)?.messages ?? 0) - 1 });
  }

  /** Makes this tree what another one is. */
  become(other: Tree): void {
    this.#nodes = new Map(other.#nodes);
  }

  /** One line for each thing, in an order that does not depend on how it came about. */
  lines(): string[] {
    return [...this.#nodes]
      .map(([name, { kind, parent, messages }]) => `${kind} ${name} in ${parent}, ${messages} messages`)
      .sort();
  }

  /** The things that hang on one that is not there, or on an inbox that is deleted. */
  dangling(): string[] {
    return [...this.#nodes]
      .filter(
        ([, { parent }]) => parent !== null && (this.#nodes.get(parent)?.kind ?? 'deleted inbox') === 'deleted inbox',
      )
      .map(([name, { kind }]) => `${kind} ${name}`);
  }

  #childrenOf(name: string): string[] {
    return [...this.#nodes].filter(([, { parent }]) => parent === name).map(([child]) => child);
  }

  #removeBelow(name: string): void {
    for (const child of this.#childrenOf(name)) this.remove(child);
  }

  #change(name: string, changes: Partial<Node>): void {
    const node = this.#nodes.get(name);
    if (!node) throw new Error(`There is nothing called ${name}.`);
    this.#nodes.set(name, { ...node, ...changes });
  }
}

/** Reads the tree that a state is. @throws when two things of it have the same id, key or address. */
export function readTree({ tenants }: MailboxState): Tree {
  const tree = new Tree();
  for (const tenant of tenants) readTenant(tree, tenant);
  return tree;
}

function readTenant(tree: Tree, tenant: TenantState): void {
  tree.add('tenant', tenant.id, null);
  for (const { id } of tenant.workspaces) tree.add('workspace', id, tenant.id);
  for (const { id, workspaceId, deletedAt } of tenant.inboxes) {
    tree.add(deletedAt === null ? 'inbox' : 'deleted inbox', id, workspaceId);
  }
  for (const { address, inboxId } of tenant.addresses) tree.add('address', address, inboxId);
  for (const { key, ownerId } of tenant.apiKeys) tree.add('key', key, ownerId);
  for (const { id, workspaceId } of tenant.domains) tree.add('domain', id, workspaceId ?? tenant.id);
  for (const { id, workspaceId } of tenant.webhooks) tree.add('webhook', id, workspaceId ?? tenant.id);
  for (const { id, inboxId } of tenant.drafts) tree.add('draft', id, inboxId);
  for (const { id, inboxId } of tenant.lists) tree.add('list', id, inboxId);
  for (const { id, listId } of tenant.listEntries) tree.add('entry', id, listId);
  for (const { inboxId } of tenant.messages) tree.addMessage(inboxId);
}
