import { FilePen, Save, Send } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import {
  matchesSearch,
  parseSearch,
  type SearchedMail,
  wordsToMark,
} from '../../../control/journal/from-entries/search-terms.ts';
import type { ControlClient, ReplyTo } from '../../../control/table/client.ts';
import { callService } from '../../call-service.ts';
import { ListView, Row, VirtualList } from '../../list-view.tsx';
import { mailLink, open, pickMailOptions, type Route, useTitle } from '../../page-route.ts';
import { Button, Chip, Facts, Failure, Form, Loading, TextField } from '../../parts.tsx';
import { type Tenant, useScope } from '../../scope.ts';
import { ClockTime, Time, UserText } from '../../text.tsx';
import { type Action, useAction, useLoaded } from '../../use-loaded.ts';
import { ListTools, MailActions } from './mail-list.tsx';
import { nameOf } from './mail-types.ts';

/** The drafts of the chosen inboxes, and the open draft, which a person can change, approve and send; on the left `aside`. */
export function Drafts({ route, aside }: { readonly route: Route; readonly aside: ComponentChildren }) {
  const { tenant, workspace, inbox, search = '' } = pickMailOptions(route);
  const filter = { tenant, workspace, inbox, limit: 200 };
  const { value, error } = useLoaded((client) => client.listDrafts(filter), JSON.stringify(filter));
  const { tenants } = useScope();
  const terms = parseSearch(search);
  const words = wordsToMark(terms);
  const drafts = value?.drafts.filter((draft) => matchesSearch(asSearched(draft, tenants), terms));
  const chosen = drafts?.find(({ id }) => id === route.id);
  return (
    <ListView
      title="Mail"
      actions={<MailActions route={route} />}
      aside={aside}
      list={
        <>
          <ListTools route={route} />
          {drafts ? (
            <VirtualList
              key={JSON.stringify([filter, search])}
              label={`Drafts, ${drafts.length}`}
              items={drafts}
              openId={route.id}
              empty="No draft here. Call createDraft with the key of an inbox to write one."
              renderRow={(draft) => draft && <DraftRow draft={draft} words={words} route={route} />}
              createLink={(id) => mailLink(route, id)}
            />
          ) : (
            <Loading error={error} />
          )}
        </>
      }
      detailLabel="Open draft"
      detail={
        route.id !== undefined &&
        drafts &&
        (chosen ? <DraftDetail key={chosen.id} draft={chosen} route={route} /> : <p>This draft is gone.</p>)
      }
      hint="Choose a draft to read, change and send it."
      back={mailLink(route, undefined)}
    />
  );
}

/** Returns a draft as a search for mail sees it: as a mail that its inbox has written. */
function asSearched(draft: Draft, tenants: readonly Tenant[]): SearchedMail {
  const { tenantId, inboxId, inbox, to, cc, bcc, subject, plainBody, htmlBody } = draft;
  const tenant = tenants.find(({ id }) => id === tenantId);
  const [, domain = ''] = inbox.split('@');
  return {
    mail: { from: inbox, to, cc, bcc, subject: subject ?? '', plainBody: plainBody ?? '', htmlBody, isRead: true },
    inboxNames: [inbox, inboxId],
    sandbox: tenant?.isSandbox ? { id: tenantId, name: tenant.name, domain } : undefined,
    fileCount: 0,
    isSample: false,
  };
}

function DraftRow({ draft, words, route }: { draft: Draft; words: readonly string[]; route: Route }) {
  const { id, to, subject, plainBody, updatedAt } = draft;
  return (
    <Row
      href={mailLink(route, id)}
      isOpen={route.id === id}
      icon={FilePen}
      tone="plain"
      who={
        <>
          To <UserText text={to.map(nameOf).join(', ') || 'nobody yet'} find={words} />
        </>
      }
      when={<ClockTime at={updatedAt} />}
      what={<UserText text={subject || '(no subject)'} find={words} />}
      state={<Chip icon={FilePen} text="Draft" />}
      more={<UserText text={plainBody ?? ''} find={words} />}
    />
  );
}

function DraftDetail({ draft, route }: { readonly draft: Draft; readonly route: Route }) {
  const action = useAction();
  const form = useDraftForm(draft, action.isRunning);
  const { subject, inbox, replyToMessageId, updatedAt } = draft;
  const answeredLink = replyToMessageId && mailLink(route, replyToMessageId, { folder: undefined });
  useTitle(subject || '(no subject)');
  return (
    <>
      <div class="head">
        <UserText inside="h1" text={subject || '(no subject)'} />
        <Chip icon={FilePen} text="Draft" />
      </div>
      <Facts
        facts={[
          ['Inbox', inbox],
          ['Changed', <Time key="changed" at={updatedAt} />],
          ['Answers', answeredLink && <a href={answeredLink}>the mail that it replies to</a>],
        ]}
      />
      <DraftForm key={form.version} draft={draft} onSaved={form.onSaved} route={route} action={action} />
    </>
  );
}

/**
 * Gives the form of a draft a new version when a client changes the draft, because the person who approves it must see
 * what is sent. When the form itself saves the draft, the version stays.
 */
function useDraftForm(draft: Draft, isRunning: boolean) {
  const content = JSON.stringify(draftFields(draft));
  // `replaced` is the content before the form saved the draft. `draft` has this content until it is loaded again.
  const { current } = useRef({ version: 0, shown: content, replaced: '' });
  if (content !== current.replaced) current.replaced = '';
  if (!isRunning && content !== current.shown && content !== current.replaced) {
    Object.assign(current, { version: current.version + 1, shown: content });
  }
  const onSaved = (fields: DraftFields) => Object.assign(current, { shown: JSON.stringify(fields), replaced: content });
  return { version: current.version, onSaved };
}

type DraftFormProps = { draft: Draft; onSaved: (fields: DraftFields) => void; route: Route; action: Action };

function DraftForm({ draft, onSaved, route, action: { run, error, isRunning } }: DraftFormProps) {
  const save = async (client: ControlClient, data: FormData, mustSend: boolean) => {
    const fields = Object.fromEntries(data) as DraftFields;
    await saveDraft(client, draft, fields);
    onSaved(fields);
    if (mustSend) open(mailLink(route, await sendDraft(client, draft), { folder: undefined }));
  };
  const submit = (data: FormData, { submitter }: SubmitEvent) =>
    run((client) => save(client, data, submitter?.getAttribute('value') === 'send'));
  return (
    <Form label="Draft" submit={submit}>
      <DraftInputs initial={draftFields(draft)} />
      <Failure error={error} />
      <span class="buttons">
        <Button icon={Send} text="Approve and send" type="submit" value="send" class="primary" disabled={isRunning} />
        <Button icon={Save} text="Save" type="submit" disabled={isRunning} />
      </span>
      <p class="hint small">
        Both are requests with the key of the inbox, so rules, faults and webhooks apply. The service has no approval of
        its own: to approve a draft is to send it.
      </p>
    </Form>
  );
}

function DraftInputs({ initial: { plainBody, htmlBody, ...singleLineFields } }: { readonly initial: DraftFields }) {
  return (
    <>
      {Object.entries(singleLineFields).map(([name, text]) => (
        <TextField key={name} label={capitalise(name)} name={name} dir="auto" defaultValue={text} />
      ))}
      <TextField label="Text" isLong class="prose" name="plainBody" dir="auto" rows={10} defaultValue={plainBody} />
      <details open={htmlBody !== ''}>
        <summary>HTML</summary>
        <TextField label="HTML of the draft" isLong name="htmlBody" defaultValue={htmlBody} />
      </details>
    </>
  );
}

const capitalise = (name: string) => name.slice(0, 1).toUpperCase() + name.slice(1);

/** A draft with everything that is known about it. */
type Draft = ReplyTo<'listDrafts'>['drafts'][number];

/** What a person can change in a draft, as the texts of a form. Addresses are separated by commas. */
type DraftFields = Readonly<Record<'to' | 'cc' | 'bcc' | 'subject' | 'plainBody' | 'htmlBody', string>>;

/** Returns what the form of a draft contains at first. */
function draftFields({ to, cc, bcc, subject, plainBody, htmlBody }: Draft): DraftFields {
  const addresses = { to: to.join(', '), cc: cc.join(', '), bcc: bcc.join(', ') };
  // A text field changes line breaks to line feeds. Without the same change here, each body would look changed.
  const [text, html] = [plainBody, htmlBody].map((body) => body?.replaceAll('\r\n', '\n') ?? '');
  return { ...addresses, subject: subject ?? '', plainBody: text ?? '', htmlBody: html ?? '' };
}

/** Saves the changed fields of a draft, by the request that a client with the key of its inbox would send. */
async function saveDraft(client: ControlClient, draft: Draft, fields: DraftFields): Promise<void> {
  const before = draftFields(draft);
  // Unchanged fields are not sent, because they would remove what the form cannot show, such as files added by IMAP.
  const changed = Object.entries(fields).filter(([name, value]) => value !== before[name as keyof DraftFields]);
  if (changed.length === 0) return;
  const body = Object.fromEntries(changed.map(([name, value]) => [name, value === '' ? null : value]));
  await callDraft(client, draft, '', { method: 'PATCH', body: JSON.stringify(body) });
}

/** Sends a draft, as a client with the key of its inbox would do, and resolves with the id of the sent mail. */
async function sendDraft(client: ControlClient, draft: Draft): Promise<string | undefined> {
  await callDraft(client, draft, '/send', { method: 'POST' });
  const { messages } = await client.searchMail({ inbox: draft.inboxId, folder: 'sent', limit: 1 });
  return messages[0]?.id;
}

/** Calls an operation on a draft with the key of its inbox. @throws {Error} if the service refuses it. */
function callDraft(client: ControlClient, { id, inboxId, tenantId }: Draft, path: string, call: RequestInit) {
  const choose: Parameters<typeof callService>[2] = (keys) => {
    const usable = keys.filter(({ inboxes }) => inboxes.includes(inboxId));
    return usable.find(({ tier }) => tier === 'inbox') ?? usable[0];
  };
  return callService(client, tenantId, choose, `/v1/inboxes/${inboxId}/drafts/${id}${path}`, call);
}
