import type { ComponentType } from 'preact';
import { Loading } from './parts.tsx';
import { noEvent, useLoaded } from './use-loaded.ts';

/**
 * Creates a part of the page whose code the browser loads when the part is shown first. The page of a trace in one file
 * shows no such part, because it can load nothing.
 */
export function createLivePart<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return function LivePart(props: Props) {
    const { value: Part, error } = useLoaded(load, 'part', noEvent);
    return Part ? <Part {...props} /> : <Loading error={error} />;
  };
}
