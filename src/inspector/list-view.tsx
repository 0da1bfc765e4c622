import { ChevronLeft, type IconNode, Inbox } from 'lucide';
import type { ComponentChildren } from 'preact';
import { open } from './page-route.ts';
import { Icon, type Tone } from './parts.tsx';
import { useShortcuts } from './shortcuts.ts';

interface ListViewProps {
  /** The name of the view, for screen readers. */
  readonly title: string;
  /** What is shown to the left of the list, such as a tree. */
  readonly aside?: ComponentChildren;
  readonly list: ComponentChildren;
  /** The name of the part beside the list, for screen readers. */
  readonly detailLabel: string;
  /** What is open beside the list; nothing if only the list is shown. */
  readonly detail: ComponentChildren;
  /** Says what to choose, if nothing is open. */
  readonly hint: string;
  /** The link to the list alone. */
  readonly back: string;
}

/** A list, with the open item beside it. A narrow page shows only one of the two. */
export function ListView({ title, aside, list, detailLabel, detail, hint, back }: ListViewProps) {
  useShortcuts({ Escape: () => detail && open(back) });
  return (
    <>
      <h1 class="hidden">{title}</h1>
      <div class={`columns ${aside ? 'three' : ''} ${detail ? 'open' : ''}`}>
        {aside}
        <div class="column">{list}</div>
        <section class="detail" aria-label={detailLabel} tabIndex={-1}>
          {detail ? (
            <>
              <a class="back" href={back}>
                <Icon of={ChevronLeft} /> Back to the list
              </a>
              {detail}
            </>
          ) : (
            <div class="nothing">
              <Icon of={Inbox} />
              <p>{hint}</p>
              <p class="hint">
                <kbd>j</kbd> <kbd>k</kbd> or the arrows go through the list; <kbd>?</kbd> shows all keys.
              </p>
            </div>
          )}
        </section>
      </div>
    </>
  );
}

interface RowProps {
  readonly href: string;
  readonly isOpen: boolean;
  /** Whether it is new to the reader, such as unread mail. */
  readonly isNew?: boolean;
  /** The icon before the row, with its colour. */
  readonly icon: IconNode;
  readonly tone: Tone;
  /** Who or what it is about. */
  readonly who: ComponentChildren;
  readonly when: ComponentChildren;
  readonly what: ComponentChildren;
  /** The state, to the right of what happened. */
  readonly state?: ComponentChildren;
  /** More about it, in a line of its own. */
  readonly more?: ComponentChildren;
}

/** A row of a list: who and when; what and its state; more. The keys of the list open it. */
export function Row({ href, isOpen, isNew, icon, tone, who, when, what, state, more }: RowProps) {
  return (
    <a class={isNew ? 'row new' : 'row'} href={href} aria-current={isOpen ? 'true' : undefined} tabIndex={-1}>
      <span class={`row-icon ${tone}`}>
        <Icon of={icon} />
      </span>
      <span class="both">
        <span class="who">{who}</span>
        <span class="when">{when}</span>
      </span>
      <span class="both">
        <span class="what">{what}</span>
        <span class="state">{state}</span>
      </span>
      <span class="more">{more}</span>
    </a>
  );
}
