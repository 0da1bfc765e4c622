import { trimEndSlashes } from '../../basics/text.ts';

/** The environment variables in which test runners and CI systems write the number of a worker. */
export const WORKER_NUMBERS =
  'TEST_PARALLEL_INDEX VITEST_POOL_ID JEST_WORKER_ID PYTEST_XDIST_WORKER CI_NODE_INDEX'.split(' ');

/**
 * Returns the URL of the emulator that this worker uses, without a slash at the end. The variable `MAILBOX_URLS` lists
 * the URLs, such as `http://10.0.0.1:4025,http://10.0.0.2:4025`, and the number of the worker chooses one of them. For
 * a worker without a number, the choice is random. Without the variable, it returns `undefined`.
 *
 * @example
 * const url = chooseUrl(process.env);
 */
export function chooseUrl(variables: Variables): string | undefined {
  const urls = listUrls(variables);
  const numbers = WORKER_NUMBERS.flatMap((name) => /(?<!\d)\d+$/.exec(variables[name] ?? '') ?? []).map(Number);
  const index = numbers.length > 0 ? numbers.reduce((sum, number) => sum + number) : Math.floor(Math.random() * 1e6);
  return urls[index % urls.length];
}

/**
 * Returns the URL to call for a sandbox. With several URLs in `MAILBOX_URLS`, this is the URL that was called. With
 * only one URL, which may be the URL of a load balancer, it is the URL of the process that has the sandbox.
 */
export function urlOfSandbox(called: string, { url }: { readonly url: string }, variables: Variables): string {
  return listUrls(variables).length > 1 ? called : url;
}

type Variables = Readonly<Record<string, string | undefined>>;

function listUrls({ MAILBOX_URLS = '' }: Variables): string[] {
  const texts = MAILBOX_URLS.split(',').map((url) => trimEndSlashes(url.trim()));
  return texts.filter((url) => url !== '');
}
