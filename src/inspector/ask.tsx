import { createContext, type VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** What a person is asked before a change that an undo does not undo as a whole. */
export interface Question {
  /** The question, such as `Reset all data?`. */
  readonly title: string;
  /** What is lost for good, and what an undo brings back, in sentences. */
  readonly text: string;
}

/** Asks a person, and resolves with whether the person agrees. `action` is the text of the button that agrees. */
export type Ask = (question: Question, action: string) => Promise<boolean>;

/** Provides the function that asks. */
export const AskContext = createContext<Ask>(async () => false);

/** The value of a dialog that was closed by the button that agrees. */
const AGREED = 'agreed';

/** Returns the function that asks, and the dialog in which it asks. */
export function useAskDialog(): [ask: Ask, dialog: VNode | undefined] {
  const dialog = useRef<HTMLDialogElement>(null);
  const [asked, setAsked] = useState<{ question: Question; action: string; answer(isAgreed: boolean): void }>();
  useLayoutEffect(() => {
    if (asked) dialog.current?.showModal();
  }, [asked]);
  const ask: Ask = (question, action) => new Promise((answer) => setAsked({ question, action, answer }));
  if (!asked) return [ask, undefined];
  const { question, action, answer } = asked;
  const close = () => {
    setAsked(undefined);
    answer(dialog.current?.returnValue === AGREED);
  };
  return [
    ask,
    <dialog
      key="ask"
      ref={dialog}
      role="alertdialog"
      aria-labelledby="ask-title"
      aria-describedby="ask-text"
      onClose={close}
    >
      <form method="dialog">
        <h1 id="ask-title">{question.title}</h1>
        <p id="ask-text">{question.text}</p>
        <p class="buttons answers">
          {/* It has the focus, so that Enter removes nothing by mistake. */}
          <button type="submit" autofocus>
            Cancel
          </button>
          <button type="submit" value={AGREED} class="danger">
            {action}
          </button>
        </p>
      </form>
    </dialog>,
  ];
}
