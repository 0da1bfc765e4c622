import type { ReplyTo } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { useLoaded } from '../../use-loaded.ts';

/** A point at which the service could behave in more than one way. */
export type Behaviour = ReplyTo<'listBehaviours'>['behaviours'][number];

/** Loads the ledger, which does not change while the server runs. */
export function useBehaviours() {
  const { client } = useInspector();
  const { value, error } = useLoaded(
    () => client.listBehaviours(),
    'behaviours',
    () => false,
  );
  return { behaviours: value?.behaviours, error };
}

const ORIGINS: Readonly<Record<Behaviour['origin'], string>> = {
  document: 'The service document says so',
  reference: 'The document leaves this open; the public reference says so',
  assumed: 'Neither the document nor the public reference says this; the emulator assumes it',
};

/** Describes where a default or an assumption comes from, in one sentence. */
export function describeOrigin({ origin, section }: Behaviour): string {
  return `${ORIGINS[origin]} (section ${section}).`;
}
