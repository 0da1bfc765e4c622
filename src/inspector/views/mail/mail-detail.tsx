import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ControlClient } from '../../../control/table/client.ts';
import { tokenToSend, useInspector } from '../../inspector.ts';
import { mailLink } from '../../links.ts';
import type { Route } from '../../page-route.ts';
import { Code, Failure, Json, saveFile } from '../../parts.tsx';
import { Time } from '../../time.tsx';
import { useAction, useLoaded } from '../../use-loaded.ts';
import { ComposeForm, type NewMail } from './compose-form.tsx';
import type { MailDetails } from './mail-types.ts';
import { bareAddress } from './mail-types.ts';

/** One mail with everything that is known about it. */
export function MailDetail({ id, route }: { readonly id: string; readonly route: Route }) {
  const { client } = useInspector();
  const load = () => client.getMail({ id });
  const { value: mail, error } = useLoaded(load, id);
  const [answer, setAnswer] = useState<NewMail>();
  if (!mail) return <Failure error={error} />;
  if (answer) return <ComposeForm start={answer} route={route} cancel={() => setAnswer(undefined)} />;
  const tabs = MAIL_TABS.filter(({ isUseful }) => isUseful(mail));
  const tab = tabs.find(({ name }) => name === route.options.tab) ?? tabs[0];
  return (
    <>
      <Head mail={mail} />
      <p class="buttons">
        {answersTo(mail).map((start) => (
          <button key={start.title} type="button" onClick={() => setAnswer(start)}>
            {start.title}
          </button>
        ))}
      </p>
      <Thread mail={mail} route={route} />
      <nav class="tabs" aria-label="Parts of the mail">
        {tabs.map(({ name, title }) => (
          <a
            key={name}
            href={mailLink(route, id, { tab: name })}
            aria-current={name === tab?.name ? 'true' : undefined}
          >
            {title(mail)}
          </a>
        ))}
      </nav>
      {tab && <tab.Component mail={mail} />}
    </>
  );
}

const MARKS: readonly (readonly [text: string, isShown: (mail: MailDetails) => boolean])[] = [
  ['Unread', ({ direction, isRead }) => direction === 'inbound' && !isRead],
  ['Sent', ({ direction }) => direction === 'outbound'],
  ['Starred', ({ isStarred }) => isStarred],
  ['Archived', ({ isArchived }) => isArchived],
  ['Bounced', ({ bouncedAt }) => bouncedAt !== null],
  ['In the trash', ({ deletedAt }) => deletedAt !== null],
];

function Head({ mail }: { readonly mail: MailDetails }) {
  const people = [
    ['From', mail.from],
    ['To', mail.to.join(', ')],
    ['Cc', mail.cc.join(', ')],
    ['Bcc', mail.bcc.join(', ')],
    ['Reply to', mail.replyTo ?? ''],
    ['Inbox', mail.inbox],
  ].filter(([, text]) => text);
  return (
    <header>
      <h1>{mail.subject || '(no subject)'}</h1>
      <dl class="keys">
        {people.map(([label, text]) => (
          <div key={label}>
            <dt class="soft">{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p>
        <Time at={mail.receivedAt} />{' '}
        {MARKS.filter(([, isShown]) => isShown(mail)).map(([text]) => (
          <span key={text} class="mark">
            {text}
          </span>
        ))}
      </p>
    </header>
  );
}

/** The other messages of the thread. */
function Thread({ mail: { id, thread }, route }: { readonly mail: MailDetails; readonly route: Route }) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    // Not `scrollIntoView`, which would scroll the mail, too.
    const line = list.current?.querySelector('li:has([aria-current])') as HTMLElement | null | undefined;
    list.current?.scrollTo(0, (line?.offsetTop ?? 0) - list.current.clientHeight / 2);
  }, [id]);
  if (thread.length < 2) return null;
  return (
    <details open>
      <summary>{thread.length} messages in this thread</summary>
      <ol class="thread" ref={list}>
        {thread.map((line) => (
          <li key={line.id}>
            <a href={mailLink(route, line.id)} aria-current={line.id === id ? 'true' : undefined}>
              {line.from}
            </a>{' '}
            <Time at={line.receivedAt} /> <span class="soft">{line.snippet}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** A mail that somebody outside could write now; the button for it says its title. */
interface Answer extends NewMail {
  readonly title: string;
}

/** Returns the mails that the people outside could answer: as a recipient of sent mail, or as the sender once more. */
function answersTo(mail: MailDetails): Answer[] {
  const { direction, from, inbox, subject, messageIdHeader: inReplyTo, references, tenantId: tenant } = mail;
  const isSent = direction === 'outbound';
  const people = isSent ? [...mail.to, ...mail.cc, ...mail.bcc] : [from];
  const shared = {
    to: isSent ? (mail.replyTo ?? from) : inbox,
    subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
    ...(isSent && { text: `\n\n${from} wrote:\n${quote(mail.plainBody)}` }),
    ...{ inReplyTo, references, tenant },
  };
  // A mail may have no sender.
  return people
    .filter(Boolean)
    .map((person) => ({
      ...shared,
      from: person,
      title: `${isSent ? 'Answer' : 'Write again'} as ${bareAddress(person)}`,
    }));
}

function quote(text: string): string {
  return text.trimEnd().replace(/^/gm, '> ');
}

interface TabProps {
  readonly mail: MailDetails;
}

/** A way to look at a mail. */
interface MailTab {
  /** The value of the option `tab` of the URL. */
  readonly name: string;
  title(mail: MailDetails): string;
  /** Whether the mail has such a part. */
  isUseful(mail: MailDetails): boolean;
  readonly Component: ComponentType<TabProps>;
}

/** The ways to look at a mail; the first useful one is shown first. */
export const MAIL_TABS: readonly MailTab[] = [
  { name: 'html', title: () => 'HTML', isUseful: ({ htmlBody }) => htmlBody !== null, Component: HtmlTab },
  { name: 'text', title: () => 'Text', isUseful: () => true, Component: TextTab },
  { name: 'headers', title: () => 'Headers', isUseful: () => true, Component: HeadersTab },
  { name: 'source', title: () => 'Source', isUseful: () => true, Component: SourceTab },
  {
    name: 'files',
    title: ({ files }) => `Files (${files.length})`,
    isUseful: ({ files }) => files.length > 0,
    Component: FilesTab,
  },
  { name: 'json', title: () => 'JSON', isUseful: () => true, Component: JsonTab },
];

/** The HTML, in a frame that runs nothing, loads nothing, and can open nothing. */
function HtmlTab({ mail }: TabProps) {
  const page = addressWithProof(`/__mock/messages/${mail.id}.html`);
  return (
    <>
      <iframe key={mail.id} class="mail" title="HTML of the mail" sandbox="" referrerpolicy="no-referrer" src={page} />
      <p class="hint">
        Scripts, forms and everything remote are switched off.{' '}
        <a href={page} target="_blank" rel="noreferrer">
          Open it alone
        </a>
      </p>
      <Links links={mail.links} />
    </>
  );
}

function TextTab({ mail }: TabProps) {
  return (
    <>
      {mail.plainBody === '' ? <p class="hint">This mail has no text.</p> : <Code text={mail.plainBody} label="Text" />}
      <Links links={mail.links} />
    </>
  );
}

/** The links of a mail, with their real targets. */
function Links({ links }: { readonly links: readonly string[] }) {
  if (links.length === 0) return null;
  return (
    <section aria-label="Links">
      <h2>Links</h2>
      <ul class="links">
        {links.map((link) => (
          <li key={link}>
            <a href={link} target="_blank" rel="noreferrer noopener">
              {link}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function HeadersTab({ mail: { headers } }: TabProps) {
  return (
    <table>
      <tbody>
        {headers.map(({ name, value, isTrace }, index) => (
          <tr key={`${index} ${name}`}>
            <th scope="row">{name}</th>
            <td>
              {value} {isTrace && <span class="mark">Added on receipt</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function SourceTab({ mail: { id } }: TabProps) {
  const { client } = useInspector();
  const { value, error } = useLoaded(() => fetchSource(client, id), `source of ${id}`);
  const save = () => value && saveFile(`${id}.eml`, value.blob);
  return (
    <>
      <Failure error={error} />
      <p>
        <button type="button" onClick={save}>
          Save as .eml
        </button>
      </p>
      {value && <Code text={value.text} label="Source" />}
    </>
  );
}

async function fetchSource(client: ControlClient, id: string) {
  const blob = await client.getMailSource({ id });
  return { blob, text: await blob.text() };
}

function FilesTab({ mail: { id, files } }: TabProps) {
  const { client } = useInspector();
  const action = useAction();
  const save = async (fileId: string, filename: string) => {
    saveFile(filename, await client.getMailFile({ id, fileId }));
  };
  return (
    <>
      <Failure error={action.error} />
      <ul class="rows">
        {files.map((file) => (
          <li key={file.id}>
            <span>{file.filename}</span>
            <span class="soft">
              {file.contentType}, {file.sizeBytes} bytes
            </span>
            <span class="buttons">
              <button type="button" onClick={() => action.run(() => save(file.id, file.filename))}>
                Save
              </button>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function JsonTab({ mail: { api } }: TabProps) {
  return <Json value={api} label="What the service replies to a request for this message" />;
}

/**
 * Returns the address of a control page with a proof that this page has the token, because a frame cannot send it. Web
 * Crypto is missing at addresses other than loopback, so the proof is computed without it.
 */
function addressWithProof(path: string): string {
  const encode = (text: string) => new TextEncoder().encode(text);
  return `${path}?proof=${bytesToHex(hmac(sha256, encode(tokenToSend()), encode(path)))}`;
}
