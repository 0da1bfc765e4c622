import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type ControlClient, createControlClient } from '../control/table/client.ts';
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

/** Returns the client and the feed of the page. */
export function useInspector(): Inspector {
  const inspector = useContext(InspectorContext);
  if (!inspector) throw new Error('This part of the page is outside of an InspectorContext.');
  return inspector;
}

/** The name under which the token is stored until the tab is closed. */
const TOKEN_KEY = 'agent-mailbox-mock.token';

/** Returns the token to send. A server without a token needs any value if its host name is not a loopback name. */
export function tokenToSend(): string {
  return sessionStorage.getItem(TOKEN_KEY) ?? 'inspector';
}

/** Returns whether a token was given in this tab. */
export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN_KEY) !== null;
}

/**
 * Keeps the token of the control plane for this tab. Characters that a header cannot have are removed; the server then
 * refuses the rest.
 */
export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token.replace(/[^\x21-\x7e]/g, ''));
}

/** Creates the client of the page. `refused` is called when the server needs another token. */
export function createInspectorClient(refused: () => void): ControlClient {
  return createControlClient({
    control: '/__mock',
    token: tokenToSend(),
    async send(...call) {
      const response = await fetch(...call);
      if (response.status === 401) refused();
      return response;
    },
  });
}
