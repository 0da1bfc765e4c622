import type { Environment } from '../environment.ts';
import type { Breaker } from './breaker.ts';
import { type Answer, noAnswer, toAnswer } from './receiver-answer.ts';
import type { OutgoingRequest } from './request.ts';

/** Calls a receiver once; `breaker` breaks it off. It never rejects: whatever goes wrong is in the answer. */
export async function callReceiver(
  environment: Environment,
  url: string,
  { headers, body }: OutgoingRequest,
  { timeoutMs, breaker }: { readonly timeoutMs: number; readonly breaker: Breaker },
): Promise<Answer> {
  const late = () => breaker.breakOff(new Error(`The receiver did not answer within ${timeoutMs / 1000} s.`));
  const cancelTimer = environment.setTimer(timeoutMs, late);
  try {
    const init: RequestInit = { method: 'POST', headers, body, redirect: 'manual', signal: breaker.signal };
    return await Promise.race([environment.fetch(url, init).then(toAnswer), breaker.broken.then(noAnswer)]);
  } catch (error) {
    return noAnswer(error);
  } finally {
    cancelTimer();
  }
}
