import * as exported from './app.ts';

declare global {
  /** A front end without a back end; the tests say what it does. */
  var app: typeof exported;
}

globalThis.app = exported;
