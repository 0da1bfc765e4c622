import { toBase64 } from '../contract/base64.ts';
import type { Environment } from '../environment.ts';
import { type Answer, noAnswer, toAnswer } from './answer.ts';
import type { Breaker } from './breaker.ts';
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
    const { href, login } = splitLogin(url);
    const init: RequestInit = {
      method: 'POST',
      headers: login === undefined ? headers : { ...headers, authorization: login },
      body,
      redirect: 'manual',
      signal: breaker.signal,
    };
    return await Promise.race([environment.fetch(href, init).then(toAnswer), breaker.broken]);
  } catch (error) {
    return noAnswer(error);
  } finally {
    cancelTimer();
  }
}

/** A login in a URL goes out as a header: `fetch` takes none in a URL. */
function splitLogin(url: string): { readonly href: string; readonly login?: string } {
  if (!url.includes('@')) return { href: url };
  const { username, password } = new URL(url);
  if (username === '' && password === '') return { href: url };
  const login = new TextEncoder().encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const { href } = Object.assign(new URL(url), { username: '', password: '' });
  return { href, login: `Basic ${toBase64(login)}` };
}
