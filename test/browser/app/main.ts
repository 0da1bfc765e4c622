import * as exported from './app.ts';

declare global {
  /** A front end without a back end, which the tests control. */
  var app: typeof exported;
}

globalThis.app = exported;
