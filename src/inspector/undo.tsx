import { type IconNode, Trash2 } from 'lucide';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useInspector } from './inspector.ts';
import { Button, Failure } from './parts.tsx';
import { type Call, useAction } from './use-loaded.ts';

/** How the latest change is undone. */
export interface Undo {
  /** What was done, and what an undo brings back, in sentences. */
  readonly text: string;
  run(): Promise<unknown>;
}

/** Provides a function that offers an undo at the bottom of the page, in every view. */
export const UndoContext = createContext<(undo: Undo) => void>(() => {});

type ConfirmButtonProps = { icon?: IconNode; label: string; warning: string; change(): Promise<Undo> };

/** A button for a change that removes something. It shows the warning, and offers an undo after the change. */
export function ConfirmButton({ icon = Trash2, label, warning, change }: ConfirmButtonProps) {
  const action = useAction();
  const offerUndo = useContext(UndoContext);
  const run = () => confirm(warning) && action.run(async () => offerUndo(await change()));
  return (
    <>
      <Button icon={icon} text={label} class="danger" disabled={action.isRunning} onClick={run} />
      <Failure error={action.error} />
    </>
  );
}

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
    <section class="undo" aria-label="Undo">
      <span role="status">{undo.text}</span>
      <Failure error={action.error} />
      <Button text="Undo" class="primary" disabled={action.isRunning} onClick={run} />
      <Button text="Close" onClick={close} />
    </section>
  );
}
