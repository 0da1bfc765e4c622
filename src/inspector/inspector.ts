import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ControlClient } from '../control/table/client.ts';
import type { LiveFeed } from './live-feed.ts';

/** What every part of the page uses. */
export interface Inspector {
  /** Calls the control plane. */
  readonly client: ControlClient;
  /** What happens in the emulator. */
  readonly feed: LiveFeed;
}

/** Gives the parts of the page their `Inspector`. */
export const InspectorContext = createContext<Inspector | undefined>(undefined);

/** Returns what the page is made with. */
export function useInspector(): Inspector {
  const inspector = useContext(InspectorContext);
  if (!inspector) throw new Error('This part of the page is outside of an InspectorContext.');
  return inspector;
}
