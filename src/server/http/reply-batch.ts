import type { ServerResponse } from 'node:http';
import type { ApiReply } from '../../pipeline/http.ts';

/**
 * Sends the replies to all requests that arrived together, one after another. A reply that is sent alone wakes up its
 * client, which on a busy server takes longer than writing the reply; the clients of the next replies are awake then.
 */
export class ReplyBatch {
  readonly #replies: { readonly response: ServerResponse; readonly body: ApiReply['body'] }[] = [];

  /** Ends a response after the requests that have already arrived are handled. */
  end(response: ServerResponse, body: ApiReply['body']): void {
    if (this.#replies.push({ response, body }) === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    for (const { response, body } of this.#replies.splice(0)) response.end(body);
  }
}
