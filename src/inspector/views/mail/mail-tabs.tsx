import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { ComponentType } from 'preact';
import type { ControlClient } from '../../../control/table/client.ts';
import { saveFile } from '../../browser-files.ts';
import { useInspector } from '../../inspector.ts';
import { tokenToSend } from '../../inspector-client.ts';
import { Code, Failure, Json } from '../../parts.tsx';
import { useAction } from '../../use-action.ts';
import { useLoaded } from '../../use-loaded.ts';
import type { MailDetails } from './mail-types.ts';

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
