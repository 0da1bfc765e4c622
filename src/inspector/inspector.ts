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
  /** The trial of the report of an evaluation that the page shows, if it is such a report. */
  readonly trial?: Trial | undefined;
}

/** A trial of a report that the page shows. */
export interface Trial {
  /** The place in the report where the link to the trial is. */
  readonly reportUrl: string;
  /** What the report says of the trial: its verdict, why, and the links to the trials before and after it that failed. */
  readonly head: HTMLElement;
  /** Why it did not pass, in one line; empty if it passed. */
  readonly reason: string;
  /** The ids of the mails that the expectation is about that decided. */
  readonly mails: ReadonlySet<string>;
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

/** What the page says if a call gets no answer. */
const NO_ANSWER = 'The emulator does not answer.';

/** A call that only reads is sent at most this many times, each time after a pause. */
const MAX_SENDS = 3;
const PAUSE_MS = 500;

interface ClientOptions {
  /** Is called when the server refuses the token. */
  onRefused(): void;
  /** Resolves when the page is connected to the feed; at once if it is. */
  whenLive(): Promise<void>;
}

/** Creates the client of the page. */
export function createInspectorClient({ onRefused, whenLive }: ClientOptions): ControlClient {
  return createControlClient({
    control: '/__mock',
    token: getToken(),
    async send(url, init) {
      // The feed has to know at once that there is no connection. What changes something may already have happened.
      const mayWait = init.method === 'GET' && !url.includes('/__mock/feed');
      const response = await (mayWait ? sendUntilAnswered(url, init, whenLive) : sendOnce(url, init));
      if (response.status === 401) onRefused();
      return response;
    },
  });
}

/**
 * Sends a call that only reads. If there is no answer, sends the call again as soon as the page is connected, so that a
 * view keeps what it shows while the connection is lost.
 */
async function sendUntilAnswered(url: string, init: RequestInit, whenLive: () => Promise<void>): Promise<Response> {
  for (let sent = 1; sent < MAX_SENDS; sent += 1) {
    const response = await fetch(url, init).catch(() => undefined);
    if (response) return response;
    // The feed may not know yet that the connection is lost.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    await whenLive();
  }
  return sendOnce(url, init);
}

/**
 * Sends a call, as `fetch` does.
 *
 * @throws {Error} with a sentence for a person if there is no answer. The browser says only `Failed to fetch`.
 */
export function sendOnce(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, init).catch(() => {
    throw new Error(NO_ANSWER);
  });
}
