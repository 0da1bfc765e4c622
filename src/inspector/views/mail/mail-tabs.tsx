import { Download, File, TriangleAlert } from 'lucide';
import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import type { ControlClient } from '../../../control/table/client.ts';
import type { Inspector } from '../../inspector.ts';
import { LiveOnly } from '../../inspector.ts';
import { Button, CheckBox, Chip, Code, Failure, Icon, Json, Loading, saveFile } from '../../parts.tsx';
import { UserText } from '../../text.tsx';
import { useAction, useLoaded } from '../../use-loaded.ts';
import { CompareTab } from './compare/compare-tab.tsx';
import type { SeenText } from './compare/seen-text.ts';
import { decodeHeader } from './decode-header.ts';
import { MailFrame } from './mail-frame.tsx';
import type { MailDetails } from './mail-types.ts';

type TabProps = {
  readonly mail: MailDetails;
  readonly words: readonly string[];
  /** What a person sees of the mail; `undefined` until it is known. */
  readonly seen?: SeenText | undefined;
};

/** A tab that shows a mail. Its name is the value of the option `tab` of the URL. */
type MailTab = { readonly name: string; readonly title: string; readonly Component: ComponentType<TabProps> };

/** Returns the tabs of a mail. The first tab is the default. A trace has the HTML only as text, and no raw mail. */
export function tabsOf({ htmlBody, files }: MailDetails, { isTrace }: Pick<Inspector, 'isTrace'>): MailTab[] {
  return [
    ...(htmlBody === null || isTrace ? [] : [{ name: 'html', title: 'HTML', Component: HtmlTab }]),
    { name: 'text', title: 'Text', Component: TextTab },
    ...(htmlBody !== null && isTrace ? [{ name: 'html', title: 'HTML as text', Component: HtmlTextTab }] : []),
    ...(isTrace ? [] : [{ name: 'compare', title: 'Person and agent', Component: PersonAndAgentTab }]),
    { name: 'headers', title: 'Headers', Component: HeadersTab },
    ...(isTrace ? [] : [{ name: 'source', title: 'Source', Component: SourceTab }]),
    ...(files.length === 0 ? [] : [{ name: 'files', title: `Files (${files.length})`, Component: FilesTab }]),
    { name: 'json', title: 'JSON', Component: JsonTab },
  ];
}

function HtmlTab({ mail }: TabProps) {
  return (
    <>
      <MailFrame key={mail.id} id={mail.id} />
      <Links mail={mail} />
    </>
  );
}

function PersonAndAgentTab({ mail, seen }: TabProps) {
  return seen ? <CompareTab key={mail.id} mail={mail} seen={seen} /> : <Loading error={undefined} />;
}

function HtmlTextTab({ mail: { htmlBody } }: TabProps) {
  return <Code text={htmlBody ?? ''} label="HTML as text" />;
}

function TextTab({ mail, words }: TabProps) {
  return (
    <>
      {mail.plainBody === '' ? (
        <p class="hint">This mail has no text.</p>
      ) : (
        <UserText inside="div" class="reading" text={mail.plainBody} find={words} />
      )}
      <Links mail={mail} />
    </>
  );
}

/** The links of a mail, with their real targets. */
function Links({ mail: { links, misleadingLinks } }: { readonly mail: MailDetails }) {
  if (links.length === 0) return null;
  const texts = new Map(misleadingLinks.map(({ url, text }) => [url, text]));
  return (
    <section aria-label="Links">
      <h2>Links</h2>
      <ul class="links soft">
        {links.map((link) => (
          <li key={link}>
            <a href={link} target="_blank" rel="noreferrer noopener">
              {link}
            </a>{' '}
            {texts.has(link) && <Chip tone="bad" icon={TriangleAlert} text={renderShownText(texts.get(link) ?? '')} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

const renderShownText = (text: string) => (
  <>
    shown as <UserText text={text} />
  </>
);

function HeadersTab({ mail: { headers } }: TabProps) {
  const [isRaw, setRaw] = useState(false);
  return (
    <>
      <p>
        <CheckBox text="As written, not decoded" isOn={isRaw} change={setRaw} />
      </p>
      <table>
        <tbody>
          {headers.map(({ name, value, isTrace }, index) => (
            <tr key={`${index} ${name}`}>
              <th scope="row">{name}</th>
              <td>
                <UserText text={isRaw ? value : decodeHeader(value)} /> {isTrace && <Chip text="Added on receipt" />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function SourceTab({ mail: { id } }: TabProps) {
  const load = async (client: ControlClient) => (await client.getMailSource({ id })).text();
  const { value, error } = useLoaded(load, `source of ${id}`);
  return value === undefined ? <Loading error={error} /> : <Code text={value} label="Source" />;
}

/** Saves a mail as a file. */
export function SaveButton({ mail: { id } }: Pick<TabProps, 'mail'>) {
  const action = useAction();
  const save = async (client: ControlClient) => saveFile(`${id}.eml`, await client.getMailSource({ id }));
  return (
    <>
      <Button icon={Download} text="Save as .eml" onClick={() => action.run(save)} />
      <Failure error={action.error} />
    </>
  );
}

function FilesTab({ mail: { id, files } }: TabProps) {
  const action = useAction();
  const save = (fileId: string, filename: string) =>
    action.run(async (client) => saveFile(filename, await client.getMailFile({ id, fileId })));
  return (
    <>
      <Failure error={action.error} />
      <ul class="rows">
        {files.map((file) => (
          <li key={file.id}>
            <Icon icon={File} />
            <UserText text={file.filename} />
            <span class="soft">
              <UserText text={file.contentType} />, {file.sizeBytes.toLocaleString('en')} bytes
            </span>
            <LiveOnly>
              <span class="buttons">
                <Button icon={Download} text="Save" onClick={() => save(file.id, file.filename)} />
              </span>
            </LiveOnly>
          </li>
        ))}
      </ul>
    </>
  );
}

function JsonTab({ mail: { api } }: TabProps) {
  return <Json value={api} label="What the service replies to a request for this message" />;
}
