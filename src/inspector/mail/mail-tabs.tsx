import type { ComponentType } from 'preact';
import { addressWithProof } from '../framed-page.ts';
import { useInspector } from '../inspector.ts';
import { type ControlClient, replyOf } from '../inspector-client.ts';
import { Code, Failure, Json } from '../parts.tsx';
import { saveFile } from '../save-file.ts';
import { useAction } from '../use-action.ts';
import { useLoaded } from '../use-loaded.ts';
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
  const params = { path: { id } };
  const blob = (await replyOf(client.GET('/__mock/messages/{id}/source', { params, parseAs: 'blob' }))) as Blob;
  return { blob, text: await blob.text() };
}

function FilesTab({ mail: { id, files } }: TabProps) {
  const { client } = useInspector();
  const action = useAction();
  const save = async (fileId: string, filename: string) => {
    const params = { path: { id, fileId } };
    const request = client.GET('/__mock/messages/{id}/files/{fileId}', { params, parseAs: 'blob' });
    saveFile(filename, (await replyOf(request)) as Blob);
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
