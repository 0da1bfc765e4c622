import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type ControlClient, createControlClient } from '../control/table/client.ts';
import type { LiveFeed } from './live-feed.ts';

/** What every part of the page uses. */
export interface Inspector {
  /** Calls the control plane, or answers from a trace. */
  readonly client: ControlClient;
  /** Reports what happens in the emulator. */
  readonly feed: LiveFeed;
  /** Whether the page shows a trace, in which nothing can be changed. */
  readonly isTrace: boolean;
  /** The URL of the report of an evaluation, if the page shows one of its trials. */
  readonly reportUrl?: string | undefined;
}

/** Provides the `Inspector` to the parts of the page. */
export const InspectorContext = createContext<Inspector | undefined>(undefined);

/** Returns the client and the feed of the page. */
export function useInspector(): Inspector {
  const inspector = useContext(InspectorContext);
  if (!inspector) throw new Error('This part of the page is outside of an InspectorContext.');
  return inspector;
}

/** What is shown only if the page shows an emulator, because it changes something, or a trace does not have it. */
export function LiveOnly({ children }: { readonly children: ComponentChildren }) {
  return useInspector().isTrace ? null : children;
}

/** The name under which the token is stored until the tab is closed. */
const TOKEN_KEY = 'agent-mailbox-mock.token';

/**
 * Returns the token for the control plane. A server without a token accepts any value. It refuses a call without a
 * value if the host name of the call is not a loopback name.
 */
export function getToken(): string {
  return sessionStorage.getItem(TOKEN_KEY) ?? 'inspector';
}

/** Returns whether a token was given in this tab. */
export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN_KEY) !== null;
}

/**
 * Keeps the token of the control plane for this tab. Characters that a header cannot contain are removed. The server
 * then refuses the token as wrong.
 */
export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token.replace(/[^\x21-\x7e]/g, ''));
}

/** Creates the client of the page. `onRefused` is called when the server refuses the token. */
export function createInspectorClient(onRefused: () => void): ControlClient {
  return createControlClient({
    control: '/__mock',
    token: getToken(),
    async send(...call) {
      const response = await fetch(...call);
      if (response.status === 401) onRefused();
      return response;
    },
  });
}
