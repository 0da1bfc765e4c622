import { EyeOff, TriangleAlert } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { plural } from '../../../../basics/text.ts';
import { Chip, Select } from '../../../parts.tsx';
import { UserText } from '../../../text.tsx';
import type { MailDetails } from '../mail-types.ts';
import { type ComparedWord, compareWords } from './compare-words.ts';
import type { SeenText, Sight, TextPiece } from './seen-text.ts';
import { JUDGED_WIDTH } from './use-seen-text.tsx';

type SeenProps = { readonly seen: SeenText };

/** The chip for a mail with text that a person does not see, or of which the page cannot tell it. */
export function HiddenTextChip({ seen, link }: { readonly seen: SeenText | undefined; readonly link: string }) {
  const has = (wanted: Sight) => seen?.pieces.some(({ sight }) => sight === wanted) ?? false;
  const isHidden = has('hidden');
  if (!isHidden && !has('unknown') && !seen?.isCut) return null;
  return (
    <a class="chip-link" href={link} title="What a person sees, and what an agent reads">
      {isHidden ? (
        <Chip tone="bad" icon={EyeOff} text="Hidden text" />
      ) : (
        <Chip tone="warn" icon={TriangleAlert} text="Hidden text cannot be ruled out" />
      )}
    </a>
  );
}

/** What a person sees of a mail, beside what an agent reads, with the differences marked. */
export function CompareTab({ mail, seen }: SeenProps & { readonly mail: MailDetails }) {
  const hasHtml = mail.htmlBody !== null;
  const seenPieces = seen.pieces.filter(({ sight }) => sight !== 'hidden');
  const compared = useMemo(() => compareWords(joinPieces(seenPieces), mail.plainBody), [seen, mail.plainBody]);
  const isHiddenInHtml = seen.pieces.some(({ sight }) => sight === 'hidden');
  const [form, setForm] = useState<'htmlBody' | 'plainBody'>(hasHtml && isHiddenInHtml ? 'htmlBody' : 'plainBody');
  return (
    <>
      <div class="beside">
        <section aria-label="What a person sees">
          <h2>What a person sees</h2>
          <p class="reading">
            <Pieces pieces={seenPieces} />
          </p>
        </section>
        <section aria-label="What an agent reads">
          <h2>
            What an agent reads{' '}
            {hasHtml ? (
              <Select
                label="Which field of the reply"
                value={form}
                options={[
                  ['plainBody', 'plainBody'],
                  ['htmlBody', 'htmlBody'],
                ]}
                choose={setForm}
              />
            ) : (
              <code>plainBody</code>
            )}
          </h2>
          {form === 'htmlBody' || !hasHtml ? (
            <p class="reading">
              <Pieces pieces={seen.pieces.filter(({ sight }) => sight !== 'person')} />
            </p>
          ) : (
            <PlainBody text={mail.plainBody} words={compared?.[1]} />
          )}
        </section>
      </div>
      <Notes seen={seen} compared={hasHtml ? compared : [[], []]} mail={mail} />
    </>
  );
}

/** The text of `plainBody`, in which what a person does not see is marked. Without words, nothing could be compared. */
function PlainBody({ text, words }: { readonly text: string; readonly words: readonly ComparedWord[] | undefined }) {
  if (text === '') return <p class="hint">plainBody is empty.</p>;
  let next = 0;
  const parts = text.split(/(\s+)/).map((part): [text: string, isShared: boolean] => {
    if (part.trim() === '') return [part, true];
    const { isShared = true } = words?.[next] ?? {};
    next += 1;
    return [part, isShared];
  });
  return (
    <p class="reading">
      {joinParts(parts).map(([part, isShared]) =>
        isShared ? <UserText text={part} /> : markText('hidden', part, NOT_SEEN),
      )}
    </p>
  );
}

const NOT_SEEN = 'a person does not see it here';

/** Joins neighbours that are marked in the same way. A space belongs to the marked words around it. */
function joinParts(parts: readonly (readonly [text: string, isShared: boolean])[]): [string, boolean][] {
  const joined: [string, boolean][] = [];
  for (const [index, [text, isShared]] of parts.entries()) {
    const isBetween = text.trim() === '' && parts[index - 1]?.[1] === false && parts[index + 1]?.[1] === false;
    const shared = isBetween ? false : isShared;
    const last = joined.at(-1);
    if (last && last[1] === shared) last[0] += text;
    else joined.push([text, shared]);
  }
  return joined;
}

function Pieces({ pieces }: { readonly pieces: readonly TextPiece[] }) {
  return (
    <>
      {pieces.map(({ text, sight, reason, line }, index) => (
        <>
          {index > 0 && line !== pieces[index - 1]?.line && '\n'}
          {sight === 'seen' ? <UserText text={text} /> : markText(sight, text, reason)}
        </>
      ))}
    </>
  );
}

const SIGHT_NAMES: Readonly<Record<Sight, string>> = {
  seen: '',
  hidden: 'Hidden',
  unknown: 'Cannot be told',
  person: 'Only for a person',
};

/** Marks a text, with the reason in the tooltip and for screen readers. */
function markText(sight: Sight, text: string, reason: string): ComponentChildren {
  const title = `${SIGHT_NAMES[sight]}: ${reason}`;
  return (
    <mark class={`sight-${sight}`} title={title}>
      <span class="hidden">[{title}] </span>
      <UserText text={text} />
    </mark>
  );
}

/** How many reasons are listed. */
const MAX_REASONS = 10;

/** What is marked and why, what could not be told, and how it was judged. */
function Notes({
  seen: { pieces, pictures, isCut },
  compared,
  mail: { plainBody, htmlBody },
}: SeenProps & { compared: ReturnType<typeof compareWords>; mail: MailDetails }) {
  const hasHtml = htmlBody !== null;
  const reasons = new Map<string, number>();
  for (const { sight, reason } of pieces) {
    if (sight === 'seen') continue;
    const key = `${SIGHT_NAMES[sight]}: ${reason}`;
    reasons.set(key, (reasons.get(key) ?? 0) + 1);
  }
  const onlyInPlain = compared?.[1].filter(({ isShared }) => !isShared).length ?? 0;
  const notInPlain = compared?.[0].filter(({ isShared }) => !isShared).length ?? 0;
  const notes = [
    ...[...reasons].slice(0, MAX_REASONS).map(([reason, count]) => `${reason} (${plural(count, 'text', 'texts')})`),
    reasons.size > MAX_REASONS && `and ${plural(reasons.size - MAX_REASONS, 'further reason', 'further reasons')}`,
    onlyInPlain > 0 && `plainBody has ${plural(onlyInPlain, 'word', 'words')} that a person does not see there.`,
    hasHtml && plainBody === '' && 'plainBody is empty.',
    notInPlain > 0 && plainBody !== '' && `plainBody lacks ${plural(notInPlain, 'word', 'words')} that a person sees.`,
    compared === undefined && 'plainBody and what a person sees differ too much to be compared word by word.',
    pictures > 0 && `What ${plural(pictures, 'picture', 'pictures')} would show cannot be told.`,
    isCut && 'The mail is long: only its beginning was judged.',
  ].filter((note) => note !== false);
  return (
    <>
      {notes.length > 0 ? (
        <ul class="small differences" aria-label="Differences">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      ) : (
        <p>A person sees what an agent reads.</p>
      )}
      {hasHtml && (
        <p class="hint small">
          Judged by the layout of this browser, {JUDGED_WIDTH} pixels wide, without pictures from elsewhere. Another
          mail program, width or colour scheme may show more or less. Tags and attributes of htmlBody are not shown,
          except the text of pictures.
        </p>
      )}
    </>
  );
}

function joinPieces(pieces: readonly TextPiece[]): string {
  return pieces.map(({ text, line }, index) => (line === pieces[index - 1]?.line ? text : `\n${text}`)).join('');
}
