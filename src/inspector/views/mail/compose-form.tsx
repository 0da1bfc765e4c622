import { Send } from 'lucide';
import { useState } from 'preact/hooks';
import { useInspector } from '../../inspector.ts';
import { mailLink } from '../../links.ts';
import { open, type Route } from '../../page-route.ts';
import { Failure, Field, Icon, toBase64 } from '../../parts.tsx';
import { useScope } from '../../scope.ts';
import { useAction } from '../../use-loaded.ts';
import { deliver } from './deliver.ts';

/** What a new mail starts with. */
export interface NewMail {
  readonly from?: string;
  readonly to: string;
  readonly subject?: string;
  readonly text?: string;
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  /** The id of the tenant of the inbox in `to`. */
  readonly tenant?: string;
  /** The heading of the form. Default: that of a mail that answers nothing. */
  readonly title?: string;
}

interface ComposeProps {
  readonly start: NewMail;
  readonly route: Route;
  /** Closes the form where the link of `Cancel` leads to the present page. */
  readonly cancel?: (() => void) | undefined;
}

/** A form for a mail from outside, which arrives as if somebody had sent it. */
export function ComposeForm({ start, route, cancel }: ComposeProps) {
  const { client } = useInspector();
  const { tenants } = useScope();
  const action = useAction();
  const [isRaw, setRaw] = useState(false);
  const send = async (form: HTMLFormElement) => {
    const data = new FormData(form);
    const body = { ...(isRaw ? await readFile(data) : await readParts(data, start)), to: recipientsOf(data) };
    open(mailLink(route, await deliver(client, tenants, body, start.tenant), { folder: undefined }));
  };
  return (
    <form
      class="fields"
      aria-label="New mail"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        void action.run(() => send(form));
      }}
    >
      <div class="head">
        <h1>{start.title ?? 'New mail from outside'}</h1>
        {!start.inReplyTo && (
          <label class="check">
            <input type="checkbox" checked={isRaw} onChange={({ currentTarget }) => setRaw(currentTarget.checked)} />
            From an .eml file
          </label>
        )}
      </div>
      <Failure error={action.error} />
      <Field label="To (an inbox)">
        <input name="to" required defaultValue={start.to} />
      </Field>
      {isRaw ? <EmlField /> : <Parts start={start} />}
      <Buttons isRunning={action.isRunning} route={route} cancel={cancel} />
    </form>
  );
}

interface ButtonsProps {
  readonly isRunning: boolean;
  readonly route: Route;
  readonly cancel: ComposeProps['cancel'];
}

function Buttons({ isRunning, route, cancel }: ButtonsProps) {
  return (
    <span class="buttons">
      <button type="submit" class="primary" disabled={isRunning}>
        <Icon of={Send} /> Deliver
      </button>
      <a class="button" href={mailLink(route, route.id)} onClick={cancel}>
        Cancel
      </a>
    </span>
  );
}

function EmlField() {
  return (
    <Field label="File (RFC 5322)">
      <input name="eml" type="file" required />
    </Field>
  );
}

function Parts({ start }: { readonly start: NewMail }) {
  return (
    <>
      <Field label="From">
        <input name="from" dir="auto" required defaultValue={start.from ?? 'Dana Reyes <dana@customer.test>'} />
      </Field>
      <Field label="Subject">
        <input name="subject" dir="auto" defaultValue={start.subject ?? ''} />
      </Field>
      <Field label="Text">
        <textarea class="prose" name="text" dir="auto" rows={12} defaultValue={start.text ?? ''} />
      </Field>
      <details>
        <summary>HTML</summary>
        <Field label="HTML of the mail">
          <textarea name="html" />
        </Field>
      </details>
      <Field label="Files">
        <input name="files" type="file" multiple />
      </Field>
    </>
  );
}

const textOf = (data: FormData, name: string) => String(data.get(name) ?? '');

const recipientsOf = (data: FormData) =>
  textOf(data, 'to')
    .split(',')
    .map((recipient) => recipient.trim());

async function readFile(data: FormData) {
  return { eml: await toBase64(data.get('eml') as File) };
}

async function readParts(data: FormData, { inReplyTo, references }: NewMail) {
  const files = data.getAll('files').filter((file): file is File => file instanceof File && file.name !== '');
  const attachments = files.map(async (file) => ({
    filename: file.name,
    contentType: file.type || 'application/octet-stream',
    content: await toBase64(file),
  }));
  const html = textOf(data, 'html');
  return {
    from: textOf(data, 'from'),
    subject: textOf(data, 'subject'),
    text: textOf(data, 'text'),
    ...(html && { html }),
    attachments: await Promise.all(attachments),
    ...(inReplyTo && { inReplyTo, references: [...(references ?? []), inReplyTo] }),
  };
}
