import { Send } from 'lucide';
import { useState } from 'preact/hooks';
import type { InputTo } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { mailLink, open, type Route } from '../../page-route.ts';
import { Button, ButtonLink, CheckBox, Failure, Field, Form, TextField, textIn, toBase64 } from '../../parts.tsx';
import { type Tenant, useScope } from '../../scope.ts';
import { useAction } from '../../use-loaded.ts';
import { bareAddress } from './mail-types.ts';
import { SamplesButton } from './samples-dialog.tsx';

/** What the fields of the form for a new mail contain at first. */
export interface NewMail {
  readonly from?: string;
  readonly to: string;
  readonly subject?: string;
  readonly text?: string;
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  /** The id of the tenant of the inbox in `to`. */
  readonly tenant?: string;
  /** The heading of the form. Default: `New mail from outside`. */
  readonly title?: string;
}

type ComposeProps = { readonly initial: NewMail; readonly route: Route; readonly cancel?: () => void };

/**
 * A form for a mail from outside, which arrives as if somebody had sent it. `cancel` closes the form; it is for pages
 * that stay open, where a link could not close it.
 */
export function ComposeForm({ initial, route, cancel }: ComposeProps) {
  const deliver = useMailDelivery(route);
  const action = useAction();
  const [isEml, setEml] = useState(false);
  const send = async (data: FormData) => {
    const to = textIn(data, 'to')
      .split(',')
      .map((recipient) => recipient.trim());
    const content = isEml ? { eml: await toBase64(data.get('eml') as File) } : await readFields(data, initial);
    const times = initial.inReplyTo ? 1 : Number(textIn(data, 'times'));
    await deliver({ ...content, to }, initial.tenant, times);
  };
  // The dialog of the samples has a form of its own, so it stands behind this form and not in it.
  const samples = !initial.inReplyTo && (
    <p class="hint">
      Or deliver a mail that agents often handle wrongly: <SamplesButton text="Choose samples" />
    </p>
  );
  return (
    <>
      <Form label="New mail" submit={(data) => action.run(() => send(data))}>
        <div class="head">
          <h1>{initial.title ?? 'New mail from outside'}</h1>
          {!initial.inReplyTo && <CheckBox text="From an .eml file" isOn={isEml} change={setEml} />}
        </div>
        <Failure error={action.error} />
        <TextField label="To (an inbox)" name="to" required defaultValue={initial.to} />
        {isEml ? (
          <TextField label="File (RFC 5322)" name="eml" type="file" required />
        ) : (
          <MailFields initial={initial} />
        )}
        {!initial.inReplyTo && (
          <TextField label="How many times" name="times" type="number" min={1} max={100} required defaultValue="1" />
        )}
        <span class="buttons">
          <Button icon={Send} text="Deliver" type="submit" class="primary" disabled={action.isRunning} />
          <ButtonLink text="Cancel" href={mailLink(route, route.id)} onClick={cancel} />
        </span>
      </Form>
      {samples}
    </>
  );
}

function MailFields({ initial }: { readonly initial: NewMail }) {
  return (
    <>
      <Field label="From">
        <input name="from" dir="auto" required defaultValue={initial.from ?? 'Dana Reyes <dana@customer.test>'} />
      </Field>
      <TextField label="Subject" name="subject" dir="auto" defaultValue={initial.subject ?? ''} />
      <TextField label="Text" isLong class="prose" name="text" dir="auto" rows={12} defaultValue={initial.text ?? ''} />
      <details>
        <summary>HTML</summary>
        <TextField label="HTML of the mail" isLong name="html" />
      </details>
      <TextField label="Files" name="files" type="file" multiple />
    </>
  );
}

async function readFields(data: FormData, { inReplyTo, references }: NewMail) {
  const files = data.getAll('files').filter((file): file is File => file instanceof File && file.name !== '');
  const attachments = files.map(async (file) => ({
    filename: file.name,
    contentType: file.type || 'application/octet-stream',
    content: await toBase64(file),
  }));
  const html = textIn(data, 'html');
  return {
    from: textIn(data, 'from'),
    subject: textIn(data, 'subject'),
    plainBody: textIn(data, 'text'),
    ...(html && { htmlBody: html }),
    attachments: await Promise.all(attachments),
    ...(inReplyTo && { inReplyTo, references: [...(references ?? []), inReplyTo] }),
  };
}

/** A mail from outside, as the control plane accepts it. */
type IncomingMail = InputTo<'receiveMessage'> & { readonly to: readonly string[] };

/**
 * Returns a function that delivers a mail from outside, once or several times, and opens a message that results from it.
 * If a sandbox has registered the domain of an address, the call must name the sandbox, so this function finds the sandbox. `tenant`
 * is the id of the tenant whose inbox was chosen, if an inbox was chosen.
 */
export function useMailDelivery(
  route: Route,
): (body: IncomingMail, tenant: string | undefined, times?: number) => Promise<void> {
  const { client } = useInspector();
  const { tenants } = useScope();
  return async (body, tenant, times = 1) => {
    const sandbox = findSandbox(tenants, body.to.map(bareAddress), tenant);
    let { messages } = await client.receiveMessage(body, { sandbox });
    for (let count = 1; count < times; count += 1) {
      ({ messages } = await client.receiveMessage(body, { sandbox }));
    }
    open(mailLink(route, messages[0]?.id, { folder: undefined }));
  };
}

/**
 * Returns the id of the sandbox that has an inbox with an address in `to`; `undefined` if no sandbox has. If no inbox
 * has an address in `to`, the mail is for the chosen tenant, which may be a sandbox.
 */
function findSandbox(tenants: readonly Tenant[], to: readonly string[], tenant?: string): string | undefined {
  const chosen = tenants.filter(({ id }) => id === tenant);
  const owner = [...chosen, ...tenants].find(({ workspaces }) =>
    workspaces.some(({ inboxes }) => inboxes.some(({ address }) => to.includes(address))),
  );
  const { id, isSandbox } = owner ?? chosen[0] ?? {};
  return isSandbox ? id : undefined;
}
