import { type IconNode, Trash2 } from 'lucide';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { AskContext, type Question } from './ask.tsx';
import { useInspector } from './inspector.ts';
import { Button, Failure } from './parts.tsx';
import { type Call, useAction } from './use-loaded.ts';

/** How the latest change is undone. */
export interface Undo {
  /** What was done, and what an undo brings back, in sentences. */
  readonly text: string;
  run(): Promise<unknown>;
}

/** Provides a function that offers an undo at the bottom of the page, in every view; or none. */
export const UndoContext = createContext<(undo: Undo | undefined) => void>(() => {});

/** A change that removes something. */
export interface Removal {
  /** What to ask before the change; `undefined` if the undo brings everything back. */
  readonly question?: Question;
  /** Makes the change. Resolves with its undo, if there is one. */
  change(): Promise<Undo | undefined>;
}

interface RemovalButtonProps extends Removal {
  readonly icon?: IconNode;
  readonly label: string;
  /** A name for screen readers, if the label says too little. */
  readonly name?: string;
}

/** A button for a change that removes something. It asks if it has a question, and offers the undo after the change. */
export function RemovalButton({ icon = Trash2, label, name = label, question, change }: RemovalButtonProps) {
  const action = useAction();
  const ask = useContext(AskContext);
  const offerUndo = useContext(UndoContext);
  const run = async () => {
    // While the page asks, the button is not disabled, because it gets the focus back.
    if (question && !(await ask(question, label))) return;
    await action.run(async () => {
      const undo = await change();
      if (undo) offerUndo(undo);
    });
  };
  return (
    <>
      <Button icon={icon} text={label} aria-label={name} class="danger" disabled={action.isRunning} onClick={run} />
      <Failure error={action.error} />
    </>
  );
}

/** What an undo by a checkpoint costs: the end of a question before a small change, whose undo loses more. */
export const COST_OF_UNDO =
  'Undo restores the whole state of before, but without its deliveries, requests, streams and sandboxes: ' +
  'these are then lost for good.';

/**
 * Returns a function that saves a checkpoint with this name, makes a change, and returns the undo, which restores the
 * checkpoint. A change in a sandbox needs a checkpoint of this sandbox, so `findSandbox` returns the id of the sandbox.
 */
export function useUndoableChange(name: string, change: Call<unknown>, findSandbox?: Call<string | undefined>) {
  const { client } = useInspector();
  return async (): Promise<Undo> => {
    const sandbox = await findSandbox?.(client);
    await client.addCheckpoint({ name }, { sandbox });
    await change(client);
    return {
      text: `An undo restores the checkpoint “${name}”, and removes what came after it.`,
      run: () => client.restoreCheckpoint({ name }, { sandbox }),
    };
  };
}

/** Shows what an undo does, with a button that does it. */
export function UndoBar({ undo, close }: { readonly undo: Undo; close(): void }) {
  const action = useAction();
  const run = async () => (await action.run(undo.run)) && close();
  return (
    <section class="bottom-bar" aria-label="Undo">
      <span role="status">{undo.text}</span>
      <Failure error={action.error} />
      <Button text="Undo" class="primary" disabled={action.isRunning} onClick={run} />
      <Button text="Close" onClick={close} />
    </section>
  );
}
