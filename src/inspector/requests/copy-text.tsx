import { useState } from 'preact/hooks';
import { Code } from '../parts.tsx';

/** Shows a text, and a button that copies it. */
export function CopyText({ title, text }: { readonly title: string; readonly text: string }) {
  const [note, setNote] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setNote('Copied.');
    } catch {
      // Browsers allow this only to pages of this machine or by HTTPS.
      setNote('The browser does not allow it. Select the text and copy it.');
    }
  };
  return (
    <details>
      <summary>{title}</summary>
      <p class="buttons">
        <button type="button" onClick={copy}>
          Copy
        </button>
        <span role="status">{note}</span>
      </p>
      <Code label={title} text={text} />
    </details>
  );
}
