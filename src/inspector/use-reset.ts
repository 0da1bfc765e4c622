import { useScope } from './scope.ts';
import { type Removal, useUndoableChange } from './undo.tsx';

/** Returns the reset of all data or, if a sandbox is chosen, of this sandbox. `label` is the text for its button. */
export function useReset(): Required<Removal> & { readonly label: string } {
  const { tenants, sandbox } = useScope();
  const name = tenants.find(({ id }) => id === sandbox)?.name;
  const change = useUndoableChange(
    'Before the reset',
    (client) => client.reset({}, { sandbox }),
    async () => sandbox,
  );
  const label = name === undefined ? 'Reset all data' : `Reset the sandbox ${name}`;
  return { label, question: { title: `${label}?`, text: describeRestore('the start', sandbox) }, change };
}

/** Says what happens when a state is restored, and what is lost for good. `state` names it, such as `the start`. */
export function describeRestore(state: string, sandbox?: string): string {
  if (sandbox !== undefined) {
    return (
      `Its data, keys, faults, correspondents and clock become those of ${state}. ` +
      'Its deliveries, requests and streams are lost for good. Undo brings back the rest.'
    );
  }
  return (
    `The data, keys, faults, correspondents, behaviours and clocks become those of ${state}. ` +
    'All deliveries, requests, streams and sandboxes are lost for good. Undo brings back the rest.'
  );
}
