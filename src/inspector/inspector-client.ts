import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './control-plane.d.ts';

/** The control plane, by the paths of its OpenAPI document. */
export type ControlClient = Client<paths>;

/** Where the token is kept until the tab is closed. */
const TOKEN_KEY = 'agent-mailbox-mock.token';

/** The headers of each call. A server without a token needs any value if its host name is not a loopback name. */
export function tokenHeaders(): { readonly 'x-mock-token': string } {
  return { 'x-mock-token': sessionStorage.getItem(TOKEN_KEY) ?? 'inspector' };
}

/** Whether a token was given in this tab. */
export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN_KEY) !== null;
}

/** Keeps the token of the control plane for this tab. Of one that no header can have, only the rest is kept, and refused. */
export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token.replace(/[^\x21-\x7e]/g, ''));
}

/** Creates the client. `refused` is called when the server needs another token. */
export function createControlClient(refused: () => void): ControlClient {
  const client = createClient<paths>({ baseUrl: location.origin });
  client.use({
    onRequest({ request }) {
      for (const [name, value] of Object.entries(tokenHeaders())) request.headers.set(name, value);
      return request;
    },
    onResponse({ response }) {
      if (response.status === 401) refused();
    },
  });
  return client;
}

/** Resolves with the reply to a call. @throws {Error} with the sentence of the emulator if it refuses the call. */
export async function replyOf<Data>(call: Promise<{ data?: Data; error?: { error: string } }>): Promise<Data> {
  const { data, error } = await call;
  if (data !== undefined) return data;
  throw new Error(error?.error ?? 'The emulator sent no reply.');
}
