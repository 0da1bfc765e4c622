/** Returns an error that says how to install msw if an import failed because msw is missing; otherwise `undefined`. */
export function explainMissingMsw(error: unknown): Error | undefined {
  const isMissing = /^Cannot find (?:package|module) 'msw[/']/.test(error instanceof Error ? error.message : '');
  if (!isMissing) return undefined;
  return new Error('Own handlers need msw, which is not installed; install it with npm install --save-dev msw.', {
    cause: error,
  });
}
