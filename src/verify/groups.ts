import type { Arrivals, Arrived, MailInbox } from './arrivals.ts';
import type { RoleKey } from './recording.ts';
import type { Scene } from './scene.ts';
import type { Reply } from './verify-session.ts';

/** What the steps of a group need besides their scene. */
export interface GroupTools {
  /** Returns a new name, which is the same on each target. */
  newName(): string;
  /** The domain of new inboxes. */
  readonly domain: string;
  readonly arrivals: Arrivals;
  /** Names what is printed in place of a value. Returns the value. */
  name<Value>(value: Value, role: string): Value;
}

/**
 * The steps of a group, each of which is followed by reading what it can touch. Every step is made on each target, also if
 * an earlier one has failed: a step is compared with the step of the same number. One that lacks an id is not sent.
 */
export type Group = (scene: Scene, tools: GroupTools) => Promise<void>;

/** A text that a service may cut or change: long, with quotes, accents and an emoji. */
const FULL_TEXT = `\u00c4\u00e9 "x" <y> & \u{1F600} ${'0123456789'.repeat(11)}`;

const webhooks: Group = async (scene, { newName, name }) => {
  const newUrl = () => `https://${newName()}.verify.invalid/hook?x=1`;
  const { workspaceId } = scene;
  const received = ['message.received'];
  const first = await scene.do('createWebhook', {}, { url: newUrl(), events: received, workspaceId });
  const second = await scene.do('createWebhook', {}, { url: newUrl(), events: received, workspaceId });
  name(first?.id, 'the first webhook of its group');
  name(second?.id, 'the second webhook of its group');
  await scene.do('createWebhook', {}, { url: newUrl(), events: [...received, 'message.sent'], workspaceId });
  const changes = [
    { url: newUrl() },
    { isActive: false },
    { url: newUrl() },
    { events: [...received, 'message.bounced'] },
    { isActive: true },
    {},
    { url: newUrl(), events: received, isActive: false },
  ];
  for (const change of changes) await scene.do('updateWebhook', { id: first?.id }, change);
  for (let time = 1; time <= 2; time += 1) await scene.do('deleteWebhook', { id: first?.id });
  await scene.do('updateWebhook', { id: first?.id }, { isActive: true });
};

const keys: Group = async (scene, { newName, name }) => {
  const values = { id: scene.workspaceId };
  const created: Reply['body'][] = [];
  for (const role of ['the first key of its group', 'the second key of its group', 'the third key of its group']) {
    const key = (await scene.do('createWorkspaceKey', values, { name: `${newName()} ${FULL_TEXT}` })) ?? {};
    name(key.id, `the id of ${role}`);
    scene.knowKey({ role, text: name(key.key, role) ?? '' });
    created.push(key);
  }
  const [first] = created;
  scene.forgetKey(first?.key);
  for (let time = 1; time <= 2; time += 1) await scene.do('deleteWorkspaceKey', { ...values, key_id: first?.id });
};

const domains: Group = async (scene, { newName, name }) => {
  const { workspaceId } = scene;
  const names = [`${newName()}.example`, `${newName()}.example`];
  for (const [index, domain] of names.entries())
    name(domain, `the ${index === 0 ? 'first' : 'second'} domain of its group`);
  for (const domain of [...names, names[0]]) await scene.do('createDomain', {}, { domain, workspaceId });
  for (let time = 1; time <= 2; time += 1) await scene.do('deleteDomain', { domain: names[0] });
};

const workspaces: Group = async (scene, { newName, name }) => {
  const created: Reply['body'][] = [];
  for (const role of ['the first workspace of its group', 'the second workspace of its group']) {
    const slug = newName();
    const workspace = (await scene.do('createWorkspace', {}, { name: `${newName()} ${FULL_TEXT}`, slug })) ?? {};
    name(workspace.id, role);
    created.push(workspace);
  }
  const [first] = created;
  const key = await scene.do('createWorkspaceKey', { id: first?.id }, {});
  name(key?.key, 'the key of a deleted workspace');
  for (let time = 1; time <= 2; time += 1) await scene.do('deleteWorkspace', { id: first?.id });
};

async function createInbox(scene: Scene, { newName, name }: GroupTools, role: string, fields: object = {}) {
  const { workspaceId } = scene;
  const inbox = (await scene.do('createInbox', {}, { username: newName(), workspaceId, ...fields })) ?? {};
  name(inbox.id, role);
  scene.knowKey({ role: `the key of ${role}`, text: name(inbox.apiKey, `the key of ${role}`) ?? '' });
  return inbox;
}

const inboxes: Group = async (scene, tools) => {
  const { newName, domain, name } = tools;
  const username = newName();
  const displayName = `verify ${FULL_TEXT}`;
  const first = await createInbox(scene, tools, 'the first inbox of its group', { username, displayName });
  const second = await createInbox(scene, tools, 'the second inbox of its group');
  const third = await createInbox(scene, tools, 'the third inbox of its group');
  const values = { id: first.id };
  const changes = [
    { displayName: `verify \u00c4 "two" \u{1F600}` },
    { metadata: { verify: 1 } },
    { displayName: 'verify three' },
    { metadata: { second: 'two', nested: { list: [1, true, null] } } },
    { displayName: null },
    { metadata: null },
    { displayName: 'verify four', metadata: { third: 3 } },
  ];
  for (const change of changes) await scene.do('updateInbox', values, change);
  const addresses = [newName(), newName()].map((part) => `${part}@${domain}`);
  for (const [index, email] of addresses.entries()) {
    await scene.do('addInboxAddress', values, { email, primary: index === 0 });
  }
  await scene.do('addInboxAddress', { id: second.id }, { email: `${newName()}@${domain}`, primary: true });
  await scene.do('addInboxAddress', values, { email: addresses[1] });
  // The one that is not the primary address first, and then the primary address.
  for (const address of [addresses[1], addresses[0]]) await scene.do('deleteInboxAddress', { ...values, address });
  scene.forgetKey(first.apiKey);
  const rotated = await scene.do('rotateInboxKey', values);
  scene.knowKey({ role: 'the new key of an inbox', text: name(rotated?.key, 'the new key of an inbox') ?? '' });
  await scene.do('createInbox', {}, { username, workspaceId: scene.workspaceId });
  scene.forgetKey(third.apiKey);
  for (let time = 1; time <= 2; time += 1) await scene.do('deleteInbox', { id: third.id });
};

const drafts: Group = async (scene, tools) => {
  const { id, email } = await createInbox(scene, tools, 'the inbox with drafts');
  const other = await createInbox(scene, tools, 'the other inbox with drafts');
  const full = {
    to: [email, other.email],
    cc: [other.email],
    bcc: [email],
    subject: `verify ${FULL_TEXT}`,
    plainBody: `verify\n${FULL_TEXT}\n`,
    htmlBody: '<p>verify <b>html</b></p>',
  };
  const first = await scene.do('createDraft', { id }, full);
  const second = await scene.do('createDraft', { id }, { ...full, subject: 'verify second' });
  await scene.do('createDraft', { id }, {});
  const values = { id, draftId: tools.name(first?.id, 'the first draft of its group') };
  tools.name(second?.id, 'the second draft of its group');
  const changes = [
    { subject: 'verify changed' },
    { plainBody: 'verify changed' },
    { htmlBody: '<p>verify changed</p>' },
    { to: other.email },
    { cc: [email] },
    { bcc: [other.email] },
    { to: null },
    { cc: null, bcc: null },
    { subject: null, plainBody: null, htmlBody: null },
    {},
    full,
  ];
  for (const change of changes) await scene.do('updateDraft', values, change);
  for (let time = 1; time <= 2; time += 1) await scene.do('deleteDraft', values);
};

const lists: Group = async (scene, tools) => {
  const { newName, name } = tools;
  const { id } = await createInbox(scene, tools, 'the inbox with lists');
  const values: { id: string; listId: string | undefined }[] = [];
  for (const role of ['the first list of its group', 'the second list of its group', 'the third list of its group']) {
    const list = await scene.do('createList', { id }, { name: `${newName()} ${FULL_TEXT}`, description: FULL_TEXT });
    values.push({ id, listId: name(list?.id, role) });
  }
  const [first, second] = values as [(typeof values)[0], (typeof values)[0]];
  const email = `${newName()}@verify.example`;
  const fields = { displayName: `verify ${FULL_TEXT}`, metadata: { verify: 1, nested: { a: [1] } } };
  const entry = await scene.do('createListEntry', first, { email, ...fields });
  name(entry?.id, 'the first entry of its group');
  await scene.do('createListEntry', first, { email: `${newName()}@verify.example` });
  await scene.do('createListEntry', second, { email, ...fields });
  await scene.do('createListEntry', first, { email });
  for (let time = 1; time <= 2; time += 1) {
    await scene.do('deleteListEntry', { ...first, entryId: entry?.id });
  }
  await scene.do('createListEntry', first, { email });
  for (let time = 1; time <= 2; time += 1) await scene.do('deleteList', second);
};

const mail: Group = async (scene, tools) => {
  const { arrivals, newName, name } = tools;
  const people: MailInbox[] = [];
  const inboxKeys: RoleKey[] = [];
  for (const role of ['the sender', 'the recipient', 'the one in cc', 'the one in bcc']) {
    const { id, email, apiKey } = await createInbox(scene, tools, role, { displayName: `verify ${role}` });
    people.push({ name: role, id, email, reader: scene.tenant });
    inboxKeys.push(asKey(apiKey, `the key of ${role}`));
  }
  const ownKey = inboxKeys[1];
  const [sender, recipient, copied, hidden] = people as [MailInbox, MailInbox, MailInbox, MailInbox];
  const know = (inbox: MailInbox, message: Reply['body'] | undefined) =>
    scene.know('inboxes', { id: inbox.id, messageId: message?.id, threadId: message?.threadId });
  /** Sends a mail from an inbox, waits until it has arrived, and reads what it can touch. Returns what has arrived. */
  const send = async (
    operation: Parameters<Scene['do']>[0],
    from: MailInbox,
    to: readonly MailInbox[],
    values: object,
    body?: object,
  ) => {
    let reading = async () => {};
    const { arrived } = await arrivals.during(to, async () => {
      const [sent, read] = await scene.begin(operation, { id: from.id, ...values }, body);
      know(from, sent);
      reading = read;
      return sent;
    });
    for (const [index, inbox] of to.entries()) know(inbox, arrived[index]);
    await reading();
    return arrived;
  };
  const html = '<p>verify <b>html</b> \u{1F600}</p>';
  const body = { plainBody: `verify\n${FULL_TEXT}\n`, htmlBody: html };
  const [first] = await send(
    'sendMessage',
    sender,
    [recipient, copied, hidden],
    {},
    {
      to: recipient.email,
      cc: [copied.email],
      bcc: hidden.email,
      subject: `verify ${newName()} ${FULL_TEXT}`,
      ...body,
      replyTo: copied.email,
      verified: true,
    },
  );
  const [second] = await send(
    'sendMessage',
    sender,
    [recipient],
    {},
    {
      to: [recipient.email],
      subject: `verify ${newName()}`,
      plainBody: 'verify',
      verified: true,
    },
  );
  const at = (message: Arrived | undefined) => ({ id: recipient.id, messageId: message?.id });
  // Both messages are unread. A mark must not change the other marks, nor the other message.
  for (const mark of [{ isStarred: true }, { isArchived: true }, { isRead: true }, { isRead: false }]) {
    await scene.do('updateMessage', at(second), mark, ownKey);
  }
  await scene.do('getMessage', at(second));
  for (const mark of [{ isArchived: false }, { isStarred: false }, {}, { isRead: false, isStarred: true }]) {
    await scene.do('updateMessage', at(second), mark);
  }
  await scene.do('getThread', { id: recipient.id, threadId: first?.threadId });
  await scene.do('getRawMessage', at(first));
  const [answer] = await send('replyToMessage', recipient, [copied], at(first), body);
  const [toAll] = await send('replyToMessage', recipient, [sender], at(second), { plainBody: 'verify' });
  const toSender = { messageId: toAll?.id };
  await send('replyAllToMessage', sender, [recipient, copied], toSender, { ...body, cc: copied.email });
  await send('replyAllToMessage', copied, [recipient], { messageId: answer?.id }, { plainBody: 'verify' });
  await send('forwardMessage', recipient, [sender], at(first), { to: sender.email });
  await send('forwardMessage', recipient, [sender], at(second), {
    to: sender.email,
    subject: `verify forwarded ${newName()}`,
    plainBody: 'verify see below',
  });
  const draft = await scene.do(
    'createDraft',
    { id: recipient.id },
    {
      to: sender.email,
      cc: copied.email,
      subject: `verify draft ${newName()}`,
      ...body,
      replyToMessageId: second?.id,
    },
  );
  const draftId = name(draft?.id, 'the draft that is sent');
  await send('sendDraft', recipient, [sender, copied], { draftId });
  await scene.do('sendDraft', { id: recipient.id, draftId });
  await scene.do('updateMessage', at(second), { isRead: false });
  scene.forgetKey(ownKey?.text);
  const rotated = await scene.do('rotateInboxKey', { id: recipient.id });
  const newKey = asKey(name(rotated?.key, 'the new key of the recipient'), 'the new key of the recipient');
  scene.knowKey(newKey);
  for (let time = 1; time <= 2; time += 1) await scene.do('deleteMessage', at(first), undefined, newKey);
  await scene.do('updateMessage', at(first), { isRead: false }, newKey);
  await scene.do('deleteMessage', at(second), undefined, newKey);
};

/** The groups of steps, in order. After each of the inner lists, the whole is read. */
export const GROUPS: readonly Readonly<Record<string, Group>>[] = [
  { webhooks, keys, domains, workspaces },
  { inboxes, drafts, lists },
  { mail },
];

/** Returns a key with its role, from a field of a reply. Its text is empty if the field has no text. */
export const asKey = (text: unknown, role: string): RoleKey => ({ role, text: typeof text === 'string' ? text : '' });
