import { toBase64 } from '../contract/base64.ts';

/** The URL of a webhook as it is called: a login in it goes out as a header, because `fetch` takes none in a URL. */
export function splitLogin(url: string): {
  readonly href: string;
  readonly login?: { readonly authorization: string };
} {
  if (!url.includes('@')) return { href: url };
  const { username, password } = new URL(url);
  if (username === '' && password === '') return { href: url };
  const login = new TextEncoder().encode(`${decode(username)}:${decode(password)}`);
  const { href } = Object.assign(new URL(url), { username: '', password: '' });
  return { href, login: { authorization: `Basic ${toBase64(login)}` } };
}

/** Decodes what is percent-encoded; what only looks so stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
