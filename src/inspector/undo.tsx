import { createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { useInspector } from './inspector.ts';
import { replyOf } from './inspector-client.ts';
import { Failure } from './parts.tsx';
import { useAction } from './use-action.ts';

/** How the latest change is undone. */
export interface Undo {
  /** What was done, and what an undo brings back, in sentences. */
  readonly text: string;
  run(): Promise<unknown>;
}

/** Offers an undo at the bottom of the page, whatever view is open. */
export const UndoContext = createContext<(undo: Undo) => void>(() => {});

/** Makes a checkpoint, and returns how everything is undone that happens after it. */
export function useCheckpoint(name: string, done: string): () => Promise<Undo> {
  const { client } = useInspector();
  return async () => {
    await replyOf(client.POST('/__mock/checkpoints', { body: { name } }));
    return {
      text: `${done} An undo restores the checkpoint “${name}”, and removes what came after it.`,
      run: () => replyOf(client.POST('/__mock/checkpoints/{name}/restore', { params: { path: { name } } })),
    };
  };
}

const openDialog = (dialog: HTMLDialogElement | null) => dialog?.showModal();

interface RemovingButtonProps {
  readonly label: string;
  /** What the change removes, in sentences. */
  readonly warning: string;
  /** Prepares the undo; called before the change. */
  prepare(): Promise<Undo>;
  change(): Promise<unknown>;
}

/** A button for a change that removes something: it says what, asks, and then offers an undo. */
export function RemovingButton({ label, warning, prepare, change }: RemovingButtonProps) {
  const [isAsking, ask] = useState(false);
  const action = useAction();
  const offer = useContext(UndoContext);
  const confirm = async () => {
    ask(false);
    await action.run(async () => {
      const undo = await prepare();
      await change();
      offer(undo);
    });
  };
  return (
    <>
      <button type="button" disabled={action.isRunning} onClick={() => ask(true)}>
        {label}
      </button>
      <Failure error={action.error} />
      {isAsking && (
        <dialog ref={openDialog} aria-label={label} onClose={() => ask(false)}>
          <p>{warning}</p>
          <p class="buttons">
            <button type="button" class="primary" onClick={confirm}>
              Continue
            </button>
            <button type="button" onClick={() => ask(false)}>
              Cancel
            </button>
          </p>
        </dialog>
      )}
    </>
  );
}

/** Says what was done, and undoes it. */
export function UndoBar({ undo, close }: { readonly undo: Undo; close(): void }) {
  const action = useAction();
  const run = async () => {
    if (await action.run(undo.run)) close();
  };
  return (
    <section class="undo" aria-label="Undo">
      <span role="status">{undo.text}</span>
      <Failure error={action.error} />
      <button type="button" class="primary" disabled={action.isRunning} onClick={run}>
        Undo
      </button>
      <button type="button" onClick={close}>
        Close
      </button>
    </section>
  );
}
