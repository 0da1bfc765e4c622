/** A scripted answer: a status, a whole response, or `timeout` to send nothing until the sender disconnects. */
export type ReceiverAnswer =
  | number
  | 'timeout'
  | {
      /** The HTTP status, from 200 to 599. */
      readonly status: number;
      /** The response headers. Default: none. */
      readonly headers?: Readonly<Record<string, string>> | undefined;
      /** The response body. Default: empty. */
      readonly body?: string | undefined;
    };

/** @throws {TypeError} on an invalid answer: a test must not pass because of a mistake in its script. */
export function checkAnswers(answers: readonly ReceiverAnswer[]): readonly ReceiverAnswer[] {
  for (const answer of answers) if (!isAnswer(answer)) throw invalidAnswer(answer);
  return answers;
}

function isAnswer(answer: ReceiverAnswer): boolean {
  try {
    return answer === 'timeout' || toResponse(answer) instanceof Response;
  } catch {
    return false;
  }
}

function invalidAnswer(answer: unknown): TypeError {
  return new TypeError(
    `An answer must be a status from 200 to 599, 'timeout', or { status, headers, body } with a status that may have a body, not ${JSON.stringify(answer)}.`,
  );
}

/** Returns the response for an answer; for `timeout`, only after the sender has disconnected. */
export async function respond(answer: ReceiverAnswer, signal: AbortSignal): Promise<Response> {
  return answer === 'timeout' ? waitForDisconnect(signal) : toResponse(answer);
}

function waitForDisconnect(signal: AbortSignal): Promise<Response> {
  return new Promise((resolve) => {
    const end = () => resolve(new Response(null, { status: 504 }));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

function toResponse(answer: Exclude<ReceiverAnswer, 'timeout'>): Response {
  const { status, headers = {}, body = '' } = typeof answer === 'number' ? { status: answer } : answer;
  if (!Number.isInteger(status)) throw new TypeError('The status is not a whole number.');
  return new Response(body === '' ? null : body, { status, headers });
}
